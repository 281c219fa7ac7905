import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from orienteer.errors import BadOption, BudgetExhausted, ModelError
from orienteer.llm import Allowance, Budget
from orienteer.records import Price, Usage


def spend(run, usage):
    """Make calls until the run refuses one, and return what it refused for and how many there were."""
    calls = 0
    while True:
        try:
            run.check()
        except BudgetExhausted as error:
            return error.limit, calls
        calls += 1
        run.charge(usage)


def test_no_budget_is_no_limit():
    run = Allowance()
    for _ in range(1000):
        run.check()
        run.charge(Usage(calls=1, prompt_tokens=10**6, usd=None))
    assert run.usage().calls == 1000
    assert run.usage().usd is None


@pytest.mark.parametrize("calls", [1, 2, 10])
def test_the_last_turn_is_inside_the_budget(calls):
    run = Allowance(Budget(calls=calls))
    assert spend(run, Usage(calls=1)) == ("calls", calls - 1)
    final = run.final()
    final.check()
    final.charge(Usage(calls=1))
    with pytest.raises(BudgetExhausted):
        final.check()
    assert run.usage().calls == calls


def test_each_of_several_agents_has_its_last_turn():
    run = Allowance(Budget(calls=10), reserve=3)
    assert spend(run, Usage(calls=1)) == ("calls", 7)
    for _ in range(3):
        run.final().check()
    with pytest.raises(BudgetExhausted):
        run.final().check()


def test_what_a_last_turn_claims_beyond_its_first_call_is_ordinary():
    run = Allowance(Budget(calls=3), reserve=2)
    final = run.final()
    final.check()
    final.check()
    with pytest.raises(BudgetExhausted):
        final.check()
    run.final().check()


def test_without_the_reserve_a_last_turn_is_an_ordinary_call():
    run = Allowance(Budget(calls=2), reserve=1)
    part = run.without_reserve()
    part.final().check()
    for last in (part.final(), run.final().without_reserve()):
        with pytest.raises(BudgetExhausted):
            last.check()
    run.final().check()


@pytest.fixture
def restless():
    """Make threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("reserve", [0, 1, 3])
@pytest.mark.parametrize("attempt", range(10))
def test_ten_calls_never_become_eleven_when_eight_threads_race(reserve, attempt):
    run = Allowance(Budget(calls=10), reserve=reserve)
    made = []
    start = threading.Barrier(8, timeout=30)

    def agent(_):
        start.wait()
        for turn in (run, run.final()):
            while True:
                try:
                    turn.check()
                except BudgetExhausted:
                    break
                made.append(turn)
                turn.charge(Usage(calls=1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(agent, range(8)))
    assert len(made) == 10
    assert sum(one is run for one in made) == 10 - reserve


def test_a_failed_call_stays_claimed_but_is_not_counted_as_usage():
    run = Allowance(Budget(calls=2), reserve=0)
    run.check()
    run.charge(Usage())
    run.check()
    run.charge(Usage(calls=1))
    with pytest.raises(BudgetExhausted):
        run.check()
    assert run.usage().calls == 1


def test_tokens_keep_enough_for_the_last_turn():
    run = Allowance(Budget(tokens=1000))
    assert spend(run, Usage(calls=1, prompt_tokens=90, completion_tokens=10)) == ("tokens", 9)
    run.final().check()


def test_tokens_of_calls_under_way_are_expected():
    run = Allowance(Budget(tokens=1000))
    run.check()
    run.charge(Usage(calls=1, prompt_tokens=200))
    for _ in range(3):
        run.check()
    with pytest.raises(BudgetExhausted, match="tokens"):
        run.check()  # 200 spent, 600 under way: one more would leave nothing for the last turn


def test_money_keeps_enough_for_the_last_turn():
    run = Allowance(Budget(usd=0.10))
    assert spend(run, Usage(calls=1, usd=0.03)) == ("usd", 2)
    run.final().check()
    run.charge(Usage(calls=1, usd=0.04))
    with pytest.raises(BudgetExhausted) as caught:
        run.final().check()
    assert caught.value.limit == "usd"


def test_money_that_cannot_be_counted_ends_the_run():
    run = Allowance(Budget(usd=1.0))
    run.check()
    run.charge(Usage(calls=1, usd=None))
    with pytest.raises(ModelError, match="did not say"):
        run.check()


def test_time_runs_out():
    run = Allowance(Budget(seconds=0.02))
    run.check()
    threading.Event().wait(0.03)
    for turn in (run, run.final()):
        with pytest.raises(BudgetExhausted) as caught:
            turn.check()
        assert caught.value.limit == "seconds"
    assert run.usage().seconds >= 0.03


def test_time_keeps_enough_for_the_last_turn():
    run = Allowance(Budget(seconds=100))
    run.check()
    run.charge(Usage(calls=1, seconds=60))
    with pytest.raises(BudgetExhausted, match="seconds"):
        run.check()
    run.final().check()


def test_usage_adds_up():
    run = Allowance()
    for _ in range(3):
        run.check()
        run.charge(Usage(calls=1, prompt_tokens=10, cached_tokens=4, completion_tokens=2, seconds=5, usd=0.5))
    spent = run.usage()
    assert (spent.calls, spent.prompt_tokens, spent.cached_tokens, spent.completion_tokens) == (3, 30, 12, 6)
    assert spent.usd == pytest.approx(1.5)
    assert spent.seconds < 5  # the time of the question, not the sum of calls that may overlap


@pytest.mark.parametrize("limit", ["calls", "tokens", "seconds", "usd"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_limit_is_positive(limit, value):
    with pytest.raises(BadOption, match=limit):
        Budget(**{limit: value})


@pytest.mark.parametrize("value", [1.5, True])
def test_calls_are_whole(value):
    with pytest.raises(BadOption, match="whole"):
        Budget(calls=value)


def test_money_cannot_be_limited_where_the_price_is_not_known():
    with pytest.raises(BadOption, match="'qwen3'"):
        Budget(usd=1.0).require_price("qwen3", None)
    Budget(usd=1.0).require_price("free", Price(prompt=0.0, completion=0.0))
    Budget(calls=3).require_price("qwen3", None)


def test_the_listener_hears_one_event_at_a_time():
    inside, heard = [], []

    def listen(event):
        inside.append(event)
        assert len(inside) == 1
        heard.append(event)
        inside.pop()

    run = Allowance(listener=listen, random_seed=7)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run.tell, map(str, range(200))))
    run.final().tell("last")
    assert sorted(heard[:-1], key=int) == [str(one) for one in range(200)]
    assert heard[-1] == "last"
    assert run.random_seed == run.final().random_seed == 7
