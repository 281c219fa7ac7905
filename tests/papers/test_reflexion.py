"""Reflexion (Shinn et al. 2023), after SAGE, appendix C.6: E episodes of m steps, R <= E - 1 reflections, no gold."""

import json

import pytest

from orienteer.errors import BadOption, ModelError
from orienteer.ingest import demo_records
from orienteer.lab.baselines import Reflexion, ReflexionConfig
from orienteer.llm import Allowance, Budget, ScriptedModel, prompt_of
from orienteer.records import Message, Question

QUESTION = "Which languages did Niklaus Wirth design?"
FINISH = ("finish", {})
FAILED = {"answered": False, "reflection": "Search for Modula next."}
ANSWERED = {"answered": True, "reflection": ""}


@pytest.fixture(scope="module")
def graph(build):
    return build(*demo_records())


def search(query):
    return ("search_in_graph", {"query": query})


def add(*nodes):
    return ("add_to_answer", {"answer_nodes": [{"node_index": node, "reasoning": "it fits"} for node in nodes]})


def is_judge(messages):
    return messages[0].content == prompt_of("reflexion-judge").system


def turn_of(messages):
    return sum(message.role == "assistant" for message in messages)


def plays(turns, *verdicts, seen=None):
    """Return a policy whose every episode takes these turns, and whose n-th verdict is the n-th of these."""
    lessons = [verdict["reflection"] for verdict in verdicts if isinstance(verdict, dict)]

    def policy(messages, tools, sampling):
        if seen is not None:
            seen.append((is_judge(messages), messages, sampling))
        if not is_judge(messages):
            episode = sum(f"{at}. {lesson}" in messages[1].content for at, lesson in enumerate(lessons, 1))
            mine = turns(episode) if callable(turns) else turns
            return mine[min(turn_of(messages), len(mine) - 1)]
        at = sum(judged for judged, _, _ in seen) - 1 if seen is not None else 0
        verdict = verdicts[min(at, len(verdicts) - 1)]
        return json.dumps(verdict) if isinstance(verdict, dict) else verdict

    return policy


def ask(graph, policy, *, run=None, **options):
    reflexion = Reflexion(graph, ScriptedModel(policy), ReflexionConfig(**options))
    return reflexion.retrieve(Question(text=QUESTION), run or Allowance(random_seed=7))


def ids(result):
    return [hit.id for hit in result.hits]


def episodes_of(result):
    return [one for one in result.trajectories if one.method == "reflexion" and one.model]


def retrievals_of(result):
    return sum(
        call.name == "search_in_graph"
        for one in result.trajectories
        for step in one.steps
        for call in step.reply.message.tool_calls
    )


@pytest.mark.parametrize("m", [1, 4])
@pytest.mark.parametrize("e", [1, 2, 3, 5])
def test_where_all_episodes_fail_there_are_e_m_plus_r_calls_and_e_m_retrievals(graph, e, m):
    result = ask(graph, plays([[search("Wirth")]], FAILED), episodes=e, max_steps=m)
    r = e - 1
    assert len(episodes_of(result)) == e
    assert result.usage.calls == e * m + r
    assert retrievals_of(result) == e * m


@pytest.mark.parametrize("good", [1, 2])
def test_the_first_episode_that_is_judged_good_is_the_last(graph, good):
    seen = []
    turns = [[search("Wirth")], [add("language:pascal"), FINISH]]
    verdicts = [FAILED] * (good - 1) + [ANSWERED]
    result = ask(graph, plays(turns, *verdicts, seen=seen), episodes=3)
    r = good - 1
    assert len(episodes_of(result)) == good
    assert result.usage.calls == good * 2 + r + 1  # the verdict that it was good is a call besides
    assert (ids(result), result.stopped_by) == (["language:pascal"], "finish")


def test_reflections_gather_in_the_prompts_of_later_episodes(graph):
    seen = []
    verdicts = [{"answered": False, "reflection": f"Lesson\n number {at}."} for at in (1, 2)]
    ask(graph, plays([[FINISH]], *verdicts, seen=seen), episodes=3)
    openings = [" ".join(one.content for one in messages) for judged, messages, _ in seen if not judged]
    held = [[at for at in (1, 2) if f"{at}. Lesson number {at}." in text] for text in openings]
    assert held == [[], [1], [1, 2]]
    assert all(text.endswith(QUESTION) for text in openings)


def test_the_judge_sees_the_question_the_trajectory_and_the_answer_and_nothing_else(graph):
    seen = []
    turns = [[search("Wirth")], [add("language:pascal"), FINISH]]
    ask(graph, plays(turns, ANSWERED, seen=seen))
    [text] = [messages[-1].content for judged, messages, _ in seen if judged]
    assert QUESTION in text
    assert 'Action 1: search_in_graph {"query": "Wirth"}' in text
    assert "Observation 1:" in text
    assert "[person:niklaus-wirth]" in text
    assert text.endswith("Answer: Pascal")


def test_no_gold_can_reach_it(graph):
    seen = []
    policy = plays([[search("Wirth")]], FAILED, seen=seen)
    reflexion = Reflexion(graph, ScriptedModel(policy), ReflexionConfig(max_steps=2))
    reflexion.retrieve(Question(id="gold-is-oberon", text=QUESTION), Allowance())
    assert seen
    assert not any("gold-is-oberon" in one.model_dump_json() for _, messages, _ in seen for one in messages)


def test_an_episode_is_told_what_react_is_told_and_to_heed_the_lessons():
    react, reflexion = prompt_of("react"), prompt_of("reflexion")
    rule = reflexion.system.removeprefix(react.system).strip()
    assert reflexion.system.startswith(react.system)
    assert rule.startswith("- You have tried")
    assert "\n" not in rule
    assert reflexion.user.endswith(react.user)


def test_an_episode_starts_anew_and_knows_only_the_lessons_of_those_before(graph):
    seen = []
    ask(graph, plays([[search("Wirth")], [search("Oberon")]], FAILED, seen=seen), episodes=2, max_steps=2)
    second = [messages for judged, messages, _ in seen if not judged][2]
    assert [message.role for message in second] == ["system", "user"]
    assert "search_in_graph {" not in second[1].content


def test_seeds_differ_from_episode_to_episode_and_repeat(graph):
    def seeds():
        seen = []
        ask(graph, plays([[FINISH]], FAILED, seen=seen))
        return [sampling.random_seed for judged, _, sampling in seen if not judged]

    assert len(set(seeds())) == len(seeds()) == 3
    assert seeds() == seeds()


def test_the_last_episode_that_ranked_anything_gives_the_ranking(graph):
    turns = [
        [[add("language:pascal"), FINISH]],
        [[add("language:oberon"), FINISH]],
        [[FINISH]],
    ]
    verdicts = [{"answered": False, "reflection": f"lesson {at}"} for at in (1, 2)]
    result = ask(graph, plays(lambda episode: turns[episode], *verdicts, seen=[]), episodes=3)
    assert len(episodes_of(result)) == 3
    assert ids(result) == ["language:oberon"]
    turns[2] = [[add("language:pascal"), FINISH]]
    assert ids(ask(graph, plays(lambda episode: turns[episode], *verdicts, seen=[]), episodes=3)) == ["language:pascal"]


@pytest.mark.parametrize(
    "said",
    ["", "yes", "[]", "{", '{"answered": "no", "reflection": "x"}', '{"answered": false}', Message(role="assistant")],
)
def test_a_verdict_that_cannot_be_read_ends_the_course_with_a_note(graph, said):
    result = ask(graph, plays([[add("language:pascal"), FINISH]], said), episodes=3)
    assert len(episodes_of(result)) == 1
    assert ids(result) == ["language:pascal"]
    assert any("verdict" in note for note in result.notes)
    assert result.usage.calls == 3  # the episode, the verdict, and the turn to put it right


def test_a_verdict_is_put_right_in_a_second_turn(graph):
    def policy(messages, tools, sampling):
        if not is_judge(messages):
            return [add("language:pascal"), FINISH]
        return json.dumps(ANSWERED) if turn_of(messages) else "It is answered."

    result = ask(graph, policy)
    assert len(episodes_of(result)) == 1
    assert not any("verdict" in note for note in result.notes)


@pytest.mark.parametrize("said", ["prose", [("nothing", {})], [add("language:wirthian")], Message(role="assistant")])
def test_a_model_that_only_errs_comes_to_an_end_without_hits(graph, said):
    result = ask(graph, plays([said], FAILED), episodes=2, max_steps=3)
    assert (result.hits, result.usage.calls, result.stopped_by) == ((), 7, "finish")


def test_long_observations_are_cut_for_the_judge(graph):
    seen = []
    ask(graph, plays([[search("language")]], ANSWERED, seen=seen), max_steps=10, context_tokens=1_000)
    [text] = [messages[-1].content for judged, messages, _ in seen if judged]
    assert text.count("Observation") == 10
    assert len(text) < 1_000 * 4 + 10 * 100 + 500


def test_what_an_episode_had_to_make_do_with_is_noted_under_its_number(graph):
    result = ask(graph, plays([[search("Wirth")]], FAILED), episodes=2, max_steps=1)
    assert [note.partition(":")[0] for note in result.notes] == ["episode 1", "episode 2"]
    assert ids(result) == [hit.id for hit in graph.search("Wirth", 5)]


@pytest.mark.parametrize(("calls", "episodes"), [(2, 1), (3, 1), (4, 2)])
def test_a_spent_budget_ends_the_course_with_what_there_is(graph, calls, episodes):
    turns = [[search("Wirth")], [add("language:pascal"), FINISH]]
    result = ask(graph, plays(turns, FAILED), run=Allowance(Budget(calls=calls), reserve=0))
    assert (result.usage.calls, result.stopped_by) == (calls, "calls")
    assert len([one for one in episodes_of(result) if one.steps]) == episodes
    assert result.hits


def test_a_model_that_fails_in_a_later_episode_is_told(graph):
    def policy(messages, tools, sampling):
        if is_judge(messages):
            return json.dumps(FAILED)
        if "1. " in messages[1].content:
            raise ModelError("down")
        return [add("language:pascal"), FINISH]

    result = ask(graph, policy)
    assert (result.hits, result.stopped_by) == ((), "error")
    assert any("down" in note and "episode 2" in note for note in result.notes)


def test_the_result_can_be_written_down_and_counts_its_calls(graph):
    result = ask(graph, plays([[search("Wirth")]], FAILED), max_steps=2)
    assert type(result).model_validate_json(result.model_dump_json()) == result
    assert result.usage.calls == sum(len(one.steps) for one in result.trajectories if one.model)


def test_the_defaults_and_wrong_settings():
    assert ReflexionConfig().episodes == 3
    for name in ("episodes", "max_steps"):
        with pytest.raises(BadOption, match=f"{name} is 0"):
            ReflexionConfig(**{name: 0})
