# pip: dspy==3.4.1
"""DSPy with its adapters: text with markers, JSON, and JSON with a schema."""

import dspy

import checks
from checks import FIXTURES, QUESTION

TITLE = "dspy"


class Answer(dspy.Signature):
    """Answers in JSON."""

    question: str = dspy.InputField()
    text: str = dspy.OutputField()


class Weather(dspy.Signature):
    """Reports the weather."""

    question: str = dspy.InputField()
    city: checks.City = dspy.OutputField()
    degrees: float = dspy.OutputField()
    hours: list[str] = dspy.OutputField()


def lm(place, name, **more):
    return dspy.LM(
        f"openai/{place.model(name)}",
        api_base=place.base_url,
        api_key=place.api_key,
        cache=False,
        num_retries=0,
        **more,
    )


def question(place):
    checks.check_equal(lm(place, "sim-echo")(QUESTION), [QUESTION])


def structured(place):
    with dspy.context(lm=lm(place, "sim-json"), adapter=dspy.JSONAdapter()):
        answer = dspy.Predict(Weather)(question=QUESTION)
    report = {"city": answer.city, "degrees": answer.degrees, "hours": answer.hours}
    checks.check_report(report)


def json_object(place):
    messages = [{"role": "user", "content": FIXTURES["jsonQuestion"]}]
    answer = lm(place, "sim-json")(messages=messages, response_format={"type": "json_object"})
    checks.check_json(answer[0])


def turns(place):
    messages = [
        {"role": "system", "content": FIXTURES["system"]},
        {"role": "user", "content": FIXTURES["firstTurn"]},
        {"role": "assistant", "content": FIXTURES["firstTurn"]},
        {"role": "user", "content": FIXTURES["secondTurn"]},
    ]
    checks.check_transcript(lm(place, "sim-transcript")(messages=messages)[0])


SHOTS = {
    "question": question,
    "structured": structured,
    "json": json_object,
    "turns": turns,
}
