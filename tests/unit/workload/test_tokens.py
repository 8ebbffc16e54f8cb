"""Stand-ins for what a render does not know yet: chosen so that no text of the user's is touched."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob.workload.tokens import Facts, Template, Tokens
from support.jobs import texts, tricky_texts
from support.properties import few

cluster_facts = st.builds(
    Facts, scheduler_ip=st.ip_addresses().map(str), owner_uid=st.uuids().map(str), attempt=st.integers(0, 10**6)
)
"""Facts as a cluster gives them."""

indices = st.integers(0, 10**5)

user_values = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | tricky_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(tricky_texts, inner, max_size=3),
    max_leaves=8,
)
"""JSON of any shape, with look-alikes of tokens in its keys and values."""


def replaced(value: Any, tokens: Tokens, facts: Facts, index: int) -> Any:
    """The naive way: replace each token in every text of a parsed manifest."""
    if isinstance(value, dict):
        return {
            replaced(key, tokens, facts, index): replaced(item, tokens, facts, index) for key, item in value.items()
        }
    if isinstance(value, list):
        return [replaced(item, tokens, facts, index) for item in value]
    if isinstance(value, str):
        for token, fact in tokens.values(facts, index).items():
            value = value.replace(token, fact)
    return value


@few
@given(user=user_values, facts=cluster_facts, index=indices)
def test_text_of_the_user_survives(user: Any, facts: Facts, index: int) -> None:
    """What the user wrote comes out as it went in, although it resembles tokens, whole or in parts."""
    tokens = Tokens.absent_from(json.dumps(user, ensure_ascii=False))

    filled = json.loads(Template.of({"user": user, "own": tokens.index}, tokens).fill(facts, index))

    assert filled == {"user": user, "own": str(index)}


@few
@given(user=user_values, before=texts, after=texts, facts=cluster_facts, index=indices)
def test_fill_is_replacement(user: Any, before: str, after: str, facts: Facts, index: int) -> None:
    """Filling in gives what replacing each token in each text gives, wherever in a text the tokens stand."""
    tokens = Tokens.absent_from(json.dumps([user, before, after], ensure_ascii=False))
    manifest = {
        "user": user,
        "name": f"{before}{tokens.index}{after}{tokens.index}",
        "all": [f"{tokens.owner_uid}{tokens.scheduler_ip}{tokens.attempt}{before}"],
        f"key{tokens.attempt}": {"x": "x"},
    }

    filled = Template.of(manifest, tokens).fill(facts, index)

    assert json.loads(filled) == replaced(manifest, tokens, facts, index)


@few
@given(fact=tricky_texts)
def test_facts_stay_text(fact: str) -> None:
    """A fact cannot break out of its JSON string, and is not looked into for tokens again."""
    tokens = Tokens.absent_from("")
    template = Template.of({"ip": tokens.scheduler_ip, "uid": tokens.owner_uid}, tokens)

    filled = template.fill(Facts(scheduler_ip=fact, owner_uid=tokens.scheduler_ip))

    assert json.loads(filled) == {"ip": fact, "uid": tokens.scheduler_ip}


@pytest.mark.parametrize("text", ["", "@msjob0.", "@msjob0.index@ and @msjob1.index@", "@msjob", "@msjob1.x"])
def test_tokens_are_absent_and_always_the_same(text: str) -> None:
    """No token occurs in the text; the same text always gives the same ones."""
    tokens = Tokens.absent_from(text)

    stand_ins = (tokens.index, tokens.scheduler_ip, tokens.owner_uid, tokens.attempt)
    assert len(set(stand_ins)) == 4
    assert not any(token in text for token in stand_ins)
    assert tokens == Tokens.absent_from(text)


@pytest.mark.timeout(5)
def test_tokens_for_a_text_that_takes_many() -> None:
    """A job as large as can be, made of look-alikes alone, costs no more than another."""
    text = "".join(f"@msjob{number}." for number in range(100_000))

    assert Tokens.absent_from(text).index == "@msjob100000.index@"


def test_text_is_the_same_for_any_order_of_keys() -> None:
    """A template is compact JSON with sorted keys: the order in which a user wrote fields makes no difference."""
    tokens = Tokens.absent_from("")

    one = Template.of({"b": {"y": 1, "x": [{"d": 1, "c": 2}]}, "a": "ü"}, tokens)
    other = Template.of({"a": "ü", "b": {"x": [{"c": 2, "d": 1}], "y": 1}}, tokens)

    assert one.text == other.text == '{"a":"ü","b":{"x":[{"c":2,"d":1}],"y":1}}'


def test_numbers_that_are_not_json_are_refused() -> None:
    """Infinity and NaN, which YAML can write, are no JSON: better an error than a body no API server reads."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        Template.of({"a": float("nan")}, Tokens.absent_from(""))


def test_placeholders() -> None:
    """Without facts the placeholders stand there that the documentation names."""
    tokens = Tokens.absent_from("")
    template = Template.of({"a": [tokens.scheduler_ip, tokens.owner_uid, tokens.attempt, tokens.index]}, tokens)

    assert json.loads(template.fill(Facts())) == {"a": ["SCHEDULER_CLUSTER_IP", "MSJOB_UID", "0", "0"]}
