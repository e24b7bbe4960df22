# pip: botocore==1.44.5
"""Prints requests that botocore has signed (SigV4), one JSON text a line. The seed makes them the same in each run."""

import datetime
import json
import random
from unittest import mock
from urllib.parse import quote

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

REQUESTS = 500
MAX_BODY_BYTES = 2 * 1024 * 1024

draw = random.Random(20261128)

LETTERS = "abcXYZ019-_.~ :@+,;=!$&()*%/äß日😀"


def text(longest):
    return "".join(draw.choice(LETTERS) for _ in range(draw.randrange(1, longest)))


def path():
    parts = [quote(text(8), safe=draw.choice(["", ":@+,;=!$&()*"])) for _ in range(draw.randrange(0, 4))]
    parts = [part for part in parts if part not in (".", "..")]
    return draw.choice(["/", "//"]).join(["", "v1", *parts]) + draw.choice(["", "", "/"])


def query():
    names = [quote(text(4), safe="") for _ in range(draw.randrange(0, 4))]
    names += names[:1] if draw.random() < 0.3 else []
    pairs = [draw.choice([name, f"{name}={quote(text(6), safe='')}"]) for name in names]
    return "?" + "&".join(pairs) if pairs else ""


def body():
    kind = draw.random()
    if kind < 0.2:
        return None
    # A large body is a short text many times, so that it fits into a line.
    times = draw.randrange(1, MAX_BODY_BYTES // 64) if kind > 0.95 else 1
    return {"text": json.dumps({"content": text(16)}, ensure_ascii=False), "times": times}


def signed():
    service, host = draw.choice([
        ("bedrock", "bedrock-runtime.us-east-1.amazonaws.com"),
        ("bedrock-mantle", "bedrock-mantle.eu-central-1.api.aws"),
        ("bedrock", "127.0.0.1:8443"),
    ])
    region = draw.choice(["us-east-1", "eu-central-1", "ap-southeast-2"])
    sent = body()
    method = "GET" if sent is None else "POST"
    content_type = draw.choice(["application/json", "application/json;  charset=utf-8", None])
    token = draw.choice([None, quote(text(40), safe="/+=")])
    access, secret = "AKID" + quote(text(12), safe="")[:16].replace("%", "0"), quote(text(30), safe="/+")
    time = datetime.datetime.fromtimestamp(draw.randrange(1_600_000_000, 2_000_000_000), datetime.timezone.utc)
    url = f"https://{host}{path()}{query()}"
    headers = {} if content_type is None else {"content-type": content_type}
    data = None if sent is None else (sent["text"] * sent["times"]).encode()
    request = AWSRequest(method=method, url=url, data=data, headers=headers)
    with mock.patch("botocore.auth.get_current_datetime", return_value=time.replace(tzinfo=None)):
        SigV4Auth(Credentials(access, secret, token), service, region).add_auth(request)
    return {
        "method": method,
        "url": url,
        "type": content_type,
        "body": sent,
        "scope": [region, service],
        "keys": [access, secret, token],
        "wallMs": int(time.timestamp()) * 1000,
        "headers": {name.lower(): value for name, value in request.headers.items() if name.lower() != "content-type"},
    }


for _ in range(REQUESTS):
    print(json.dumps(signed(), ensure_ascii=False, separators=(",", ":")))
