"""What a report's page holds as data, read back without the package."""

import base64
import json
import re
import zlib


def payload_in(text):
    """Return the payload that a page was made of."""
    (found,) = re.findall(
        r'<script type="application/json" id="payload">(.*?)</script>', text, re.DOTALL
    )
    data = json.loads(found)
    packed = data.pop("packed")
    details = {}
    for places, group in packed["groups"]:
        some = json.loads(zlib.decompress(base64.b64decode(group)))
        assert [int(place) for place in some] == places
        details |= some
    grades = [doc[1] for detail in details.values() for doc in detail["docs"]]
    known = [grade for grade in grades if grade is not None]
    assert packed["grades"] == [min([0, *known]), max([1, *known])]
    return {**data, "details": details}
