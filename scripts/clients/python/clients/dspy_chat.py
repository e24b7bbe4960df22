# pip: dspy==3.4.1
"""DSPy: its model alone, and a signature with the adapter for JSON."""

import dspy

import checks
from checks import FIXTURES, QUESTION

TITLE = "dspy"


class Answer(dspy.Signature):
    """Answers in JSON."""

    question: str = dspy.InputField()
    text: str = dspy.OutputField()


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


def json_object(place):
    with dspy.context(lm=lm(place, "sim-json"), adapter=dspy.JSONAdapter()):
        answer = dspy.Predict(Answer)(question=FIXTURES["jsonQuestion"])
    assert FIXTURES["jsonQuestion"] in answer.text, answer.text


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
    "json": json_object,
    "turns": turns,
}
