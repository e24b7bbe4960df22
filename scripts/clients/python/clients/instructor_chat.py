# pip: instructor==1.17.0
"""Instructor in its modes for Chat Completions: every answer is parsed as a model of Pydantic."""

import instructor
from instructor import Mode
from openai import OpenAI
from pydantic import BaseModel

import checks
from checks import FIXTURES, QUESTION

TITLE = "instructor"


class Answer(BaseModel):
    """An answer in JSON."""

    text: str


def ask(place, name, mode, model, content):
    openai = OpenAI(base_url=place.base_url, api_key=place.api_key, max_retries=0)
    client = instructor.from_openai(openai, mode=mode)
    return client.chat.completions.create(
        model=place.model(name),
        messages=[{"role": "user", "content": content}],
        response_model=model,
        max_retries=0,
    )


def structured(place):
    report = ask(place, "sim-json", Mode.JSON_SCHEMA, checks.Report, QUESTION)
    checks.check_report(report.model_dump())


def json_object(place):
    answer = ask(place, "sim-json", Mode.JSON, Answer, FIXTURES["jsonQuestion"])
    assert answer.text, "the answer is empty"


def required(place):
    for mode in (Mode.TOOLS, Mode.TOOLS_STRICT):
        report = ask(place, "sim-tools", mode, checks.Report, QUESTION)
        checks.check_report(report.model_dump())


SHOTS = {"structured": structured, "json": json_object, "required": required}
