"""The torch layer against enumeration, the NumPy engine, finite differences, and pytorch-crf."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from chainfield import inference  # noqa: E402
from chainfield.errors import ConfigError, DataError, NoPathError  # noqa: E402
from chainfield.potentials import clamp_labels, make_potentials  # noqa: E402
from chainfield.states import (  # noqa: E402
    class_blocks,
    left_to_right,
    one_per_label,
    partitioned,
    restrict,
    second_order,
)
from chainfield.torch import CRF  # noqa: E402
from chainfield.torch.labelled import Blocks  # noqa: E402
from support import enumeration  # noqa: E402
from support.catalogue import SPACES, draw_labels, label_pair_ties  # noqa: E402
from support.strategies import bio_rules  # noqa: E402

ENGINES = ("compiled", "torch")
LENGTHS = [3, 1, 4, 2]
MANY = {"many": lambda: partitioned([40, 40]), "uneven": lambda: partitioned([3, 1, 2, 1])}
ALL = {**SPACES, **MANY}


def layer(space, engine="auto", rank=None, dtype=torch.float64, seed=0):
    torch.manual_seed(seed)
    crf = CRF(space, batch_first=True, engine=engine, rank=rank).to(dtype)
    with torch.no_grad():
        for p in crf.parameters():
            p.normal_()
    return crf


def draw(space, lengths=LENGTHS, dtype=torch.float64, seed=0):
    rng = np.random.default_rng(seed)
    emissions = torch.from_numpy(rng.normal(size=(sum(lengths), space.n_rows))).to(dtype)
    tags = torch.tensor(draw_labels(rng, space, list(lengths)))
    return emissions, tags


def potentials_of(crf, emissions, lengths):
    """What the layer's parameters mean, written down once more."""
    space, offsets = crf.space, np.concatenate([[0], np.cumsum(lengths)])
    own = {name: p.detach().double().numpy() for name, p in crf.named_parameters()}
    node = emissions.double().numpy().copy()
    node[offsets[:-1]] += own["start_transitions"]
    node[offsets[1:] - 1] += own["end_transitions"]
    if "left" in own:
        edge = (own["left"] @ own["right"].T)[space.src, space.row_of[space.dst]]
    else:
        edge = own["transitions"][space.row_of[space.src], space.row_of[space.dst]] + own.get("extra", 0.0)
    return make_potentials(space, node, edge, offsets)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SPACES)
def test_equals_enumeration(name, engine):
    space = SPACES[name]()
    lengths = [n for n in LENGTHS if n < 4 or space.n_states < 6]
    crf = layer(space, engine)
    emissions, tags = draw(space, lengths)
    potentials = potentials_of(crf, emissions, lengths)
    values = crf(emissions, tags, reduction="none", lengths=lengths).tolist()
    for s, (a, b) in enumerate(zip(potentials.offsets[:-1], potentials.offsets[1:], strict=True)):
        paths = enumeration.paths(space, potentials, s)
        agree = [p.score for p in paths if space.label_of[list(p.states)].tolist() == tags[a:b].tolist()]
        want = enumeration.log_sum(agree) - enumeration.log_sum([p.score for p in paths])
        assert values[s] == pytest.approx(want, rel=1e-10, abs=1e-10)
        best = max(paths, key=lambda p: p.score)
        assert crf.decode_states(emissions, lengths=lengths)[s] == list(best.states)
    node, _, _ = enumeration.posteriors(space, potentials)
    np.testing.assert_allclose(crf.marginals(emissions, lengths=lengths).numpy(), node, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("name", ALL)
def test_equals_the_numpy_engine(name, rank, dtype):
    """Values and gradients of both ways, for known, unknown and partly known labels."""
    space = ALL[name]()
    tolerance = {"rtol": 1e-10, "atol": 1e-10} if dtype == torch.float64 else {"rtol": 1e-5, "atol": 2e-5}
    rough = 1e-4 if dtype == torch.float32 else 1e-10
    for known in ("full", "partly", "none"):
        found = []
        for engine in ("auto", *ENGINES):
            crf = layer(space, engine, rank, dtype)
            emissions, tags = draw(space, dtype=dtype)
            emissions.requires_grad_()
            if known != "full":
                tags[:: 2 if known == "partly" else 1] = -1
            value = crf(emissions, tags, reduction="none", lengths=LENGTHS)
            value.sum().backward()
            found.append([value.detach(), emissions.grad, *(p.grad for p in crf.parameters())])
        potentials = potentials_of(crf, emissions.detach(), LENGTHS)
        clamped = clamp_labels(space, tags.numpy()).apply(potentials)
        want = inference.log_partition(space, clamped) - inference.log_partition(space, potentials)
        gradient = (
            inference.marginals(space, clamped).expected.node - inference.marginals(space, potentials).expected.node
        )
        for values in found:
            np.testing.assert_allclose(values[0].double(), want, **tolerance)
            np.testing.assert_allclose(values[1].double(), gradient, **tolerance)
            for mine, first in zip(values[2:], found[0][2:], strict=True):
                np.testing.assert_allclose(mine.double(), first.double(), **tolerance | {"atol": rough})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["one per label", "restricted latent", "second order latent", "uneven"])
@pytest.mark.parametrize("rank", [None, 2])
def test_gradcheck(name, rank, engine):
    """Finite differences, with weights that differ from sequence to sequence."""
    space = ALL[name]()
    crf = layer(space, engine, rank)
    emissions, tags = draw(space)
    emissions.requires_grad_()
    weight = torch.tensor([1.0, 0.5, 2.0, 1.5], dtype=torch.float64)
    names = [n for n, _ in crf.named_parameters()]
    values = [p.detach().clone().requires_grad_() for p in crf.parameters()]

    def loss(x, *parameters):
        own = dict(zip(names, parameters, strict=True))
        found = torch.func.functional_call(crf, own, (x, tags), {"reduction": "none", "lengths": LENGTHS})
        return (found * weight).sum(), found.sum()

    assert torch.autograd.gradcheck(loss, (emissions, *values), atol=1e-6)


def test_log_partition_has_the_posteriors_as_its_gradient():
    crf = layer(partitioned([2, 1]))
    emissions, _ = draw(crf.space)
    emissions.requires_grad_()
    crf.log_partition(emissions, lengths=LENGTHS).sum().backward()
    torch.testing.assert_close(emissions.grad, crf.marginals(emissions.detach(), lengths=LENGTHS))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("batch_first", [True, False])
def test_any_mask_takes_positions_out(batch_first, engine):
    """Holes and leading padding: as if what is masked were not there."""
    torch.manual_seed(0)
    crf = CRF(4, batch_first=batch_first, engine=engine).double()
    padded, tags = torch.randn(3, 6, 4, dtype=torch.float64), torch.randint(4, (3, 6))
    mask = torch.tensor([[0, 1, 1, 0, 1, 0], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1]], dtype=torch.bool)
    tags[~mask] = 99  # whatever stands there
    padded[~mask] = torch.nan
    turned = (lambda x: x) if batch_first else (lambda x: x.transpose(0, 1))
    args = [turned(padded).clone().requires_grad_(), turned(tags), turned(mask)]
    values = crf(*args, reduction="none")
    values.sum().backward()
    for s in range(3):
        alone = padded[s][mask[s]].clone().requires_grad_()
        own = crf(alone, tags[s][mask[s]])
        own.backward()
        torch.testing.assert_close(values[s], own)
        torch.testing.assert_close(turned(args[0].grad)[s][mask[s]], alone.grad)
        assert crf.decode(args[0].detach(), args[2])[s] == crf.decode(alone.detach())[0]
    assert not turned(args[0].grad)[~mask].any()
    assert not turned(crf.marginals(args[0].detach(), args[2]))[~mask].any()


def test_lengths_are_a_mask_of_their_own():
    crf = layer(one_per_label(3))
    padded, lengths = torch.randn(4, 5, 3, dtype=torch.float64), torch.tensor([5, 1, 3, 2])
    mask = torch.arange(5) < lengths[:, None]
    tags = torch.randint(3, (4, 5))
    torch.testing.assert_close(crf(padded, tags, mask), crf(padded, tags, lengths=lengths))
    flat = torch.cat([x[:n] for x, n in zip(padded, lengths.tolist(), strict=True)])
    torch.testing.assert_close(crf(padded, tags, mask), crf(flat, tags[mask], lengths=lengths))


def test_reductions():
    crf = layer(one_per_label(3))
    emissions, tags = draw(crf.space)
    each = crf(emissions, tags, reduction="none", lengths=LENGTHS)
    assert crf(emissions, tags, lengths=LENGTHS) == each.sum()
    assert crf(emissions, tags, reduction="mean", lengths=LENGTHS) == each.mean()
    assert crf(emissions, tags, reduction="token_mean", lengths=LENGTHS) == each.sum() / sum(LENGTHS)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_numbers_as_pytorch_crf(engine, dtype, batch_first):
    torchcrf = pytest.importorskip("torchcrf")
    torch.manual_seed(0)
    theirs = torchcrf.CRF(5, batch_first=batch_first).to(dtype)
    ours = CRF(5, batch_first=batch_first, engine=engine).to(dtype)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn((3, 7, 5) if batch_first else (7, 3, 5), dtype=dtype)
    tags = torch.randint(5, x.shape[:2])
    mask = torch.arange(7) < torch.tensor([[7], [2], [4]])
    mask = mask if batch_first else mask.t()
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-10, "atol": 1e-10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it hands uint8 masks to torch.where
        for m in (None, mask):
            for reduction in ("none", "sum", "mean", "token_mean"):
                grads = []
                for crf in (theirs, ours):
                    crf.zero_grad()
                    own = x.clone().requires_grad_()
                    value = crf(own, tags, m, reduction)
                    value.sum().backward()
                    grads.append([value.detach(), own.grad, *(p.grad for p in crf.parameters())])
                for a, b in zip(*grads, strict=True):
                    torch.testing.assert_close(a, b, **tolerance)
            assert theirs.decode(x, m) == ours.decode(x, m)


@pytest.mark.parametrize("name", SPACES)
def test_decoders_n_best_and_samples_are_the_engines(name):
    space = SPACES[name]()
    crf = layer(space, "torch")
    emissions, _ = draw(space)
    potentials = potentials_of(crf, emissions, LENGTHS)
    for decoder, decode in inference.DECODERS.items():
        found = [y for labels in crf.decode(emissions, lengths=LENGTHS, decoder=decoder) for y in labels]
        assert found == decode(space, potentials).tolist()
    for mine, theirs in zip(
        crf.n_best(emissions, 3, lengths=LENGTHS), inference.best_label_paths(space, potentials, 3), strict=True
    ):
        assert [labels for labels, _ in mine] == theirs.labels.tolist()
        np.testing.assert_allclose([p for _, p in mine], np.exp(theirs.log_probability), rtol=1e-9)
    labels = crf.label_marginals(emissions, lengths=LENGTHS)
    np.testing.assert_allclose(labels, inference.label_marginals(space, potentials), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(labels.sum(1), torch.ones(sum(LENGTHS), dtype=torch.float64))
    moves = crf.expected_transitions(emissions, lengths=LENGTHS)
    assert float(moves.sum()) == pytest.approx(sum(LENGTHS) - len(LENGTHS))
    drawn = crf.sample(emissions, 5, lengths=LENGTHS, generator=torch.Generator().manual_seed(1))
    again = crf.sample(emissions, 5, lengths=LENGTHS, generator=torch.Generator().manual_seed(1))
    assert drawn == again
    assert [np.shape(one) for one in drawn] == [(5, n) for n in LENGTHS]


def test_samples_follow_the_posterior():
    crf = layer(partitioned([2, 1]))
    emissions, _ = draw(crf.space, [3])
    drawn = np.array(crf.sample(emissions, 20_000, generator=torch.Generator().manual_seed(0))[0])
    want = crf.label_marginals(emissions)[:, 0].numpy()
    np.testing.assert_allclose((drawn == 0).mean(0), want, atol=0.02)


def test_class_blocks_take_a_label_a_sequence():
    crf = layer(class_blocks([left_to_right(2), left_to_right(1), partitioned([2])]))
    emissions, _ = draw(crf.space, [4, 3])
    value = crf(emissions, torch.tensor([2, 0]), reduction="none", lengths=[4, 3])
    assert torch.equal(value, crf(emissions, torch.tensor([2, 2, 2, 2, 0, 0, 0]), reduction="none", lengths=[4, 3]))
    log_p = crf.class_log_probabilities(emissions, lengths=[4, 3])
    torch.testing.assert_close(value, log_p[[0, 1], [2, 0]])


def test_sets_of_labels():
    crf = layer(one_per_label(3))
    emissions, tags = draw(crf.space)
    one = torch.nn.functional.one_hot(tags, 3).bool()
    torch.testing.assert_close(crf(emissions, one, lengths=LENGTHS), crf(emissions, tags, lengths=LENGTHS))
    both = one.clone()
    both[0, 0] = both[0, 1] = True
    others = [tags.clone(), tags.clone()]
    others[0][0], others[1][0] = 0, 1
    if int(tags[0]) == 2:
        others.append(tags)
    want = torch.logsumexp(torch.stack([crf(emissions, t, reduction="none", lengths=LENGTHS)[0] for t in others]), 0)
    torch.testing.assert_close(crf(emissions, both, reduction="none", lengths=LENGTHS)[0], want)


@pytest.mark.parametrize("engine", ENGINES)
def test_enormous_scores_stay_exact(engine):
    """Scores that span more than any exponential holds: products give way to log space."""
    space = partitioned([2, 2])
    for size in (1e3, 1e5):
        crf = layer(space, engine)
        with torch.no_grad():
            for p in crf.parameters():
                p.mul_(size)
        emissions, tags = draw(space)
        emissions = emissions * size
        potentials = potentials_of(crf, emissions, LENGTHS)
        clamped = clamp_labels(space, tags.numpy()).apply(potentials)
        want = inference.log_partition(space, clamped) - inference.log_partition(space, potentials)
        found = crf(emissions, tags, reduction="none", lengths=LENGTHS)
        np.testing.assert_allclose(found.detach().numpy(), want, rtol=1e-9, atol=1e-9 * size)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_known_labels_by_a_kernel_by_torch_and_by_the_engine(monkeypatch, dtype):
    """Labels of several states: three ways to sum over their paths, the same values and gradients."""
    space = partitioned([3, 1, 2])
    found = []
    for engine, runs in (("compiled", True), ("torch", True), ("torch", False)):
        if not runs:
            monkeypatch.setattr(Blocks, "runs", None)
        crf = layer(space, engine).to(dtype)
        emissions, tags = draw(space)
        emissions = emissions.to(dtype).requires_grad_()
        value = crf(emissions, tags, reduction="none", lengths=LENGTHS)
        weight = torch.linspace(0.5, 2.0, len(LENGTHS), dtype=dtype)
        grads = torch.autograd.grad((value * weight).sum(), [emissions, *crf.parameters()])
        found.append([value.detach(), *grads])
    tolerance = {"rtol": 1e-10, "atol": 1e-12} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-5}
    for other in found[1:]:
        for own, theirs in zip(found[0], other, strict=True):
            torch.testing.assert_close(own, theirs, **tolerance)


@pytest.mark.parametrize("engine", ENGINES)
def test_minus_infinity_makes_a_row_impossible(engine):
    crf = layer(partitioned([2, 1]), engine)
    emissions, _ = draw(crf.space, [4])
    emissions[1, :2] = -math.inf
    emissions.requires_grad_()
    tags = torch.tensor([0, 1, 0, -1])
    crf(emissions, tags).backward()
    assert torch.isfinite(emissions.grad).all()
    assert crf.decode(emissions.detach())[0][1] == 1
    assert crf.marginals(emissions.detach())[1].tolist() == pytest.approx([0, 0, 1])


def test_state_dict_and_parameters_of_low_rank():
    space = partitioned([3, 3])
    one, two = layer(space, rank=2), layer(space, rank=2, seed=1)
    assert set(one.state_dict()) == {"start_transitions", "end_transitions", "left", "right"}
    two.load_state_dict(one.state_dict())
    emissions, tags = draw(space)
    assert one(emissions, tags, lengths=LENGTHS) == two(emissions, tags, lengths=LENGTHS)
    dense = layer(space)
    with torch.no_grad():
        dense.transitions.copy_(one.transition_matrix())
        dense.start_transitions.copy_(one.start_transitions)
        dense.end_transitions.copy_(one.end_transitions)
    torch.testing.assert_close(dense(emissions, tags, lengths=LENGTHS), one(emissions, tags, lengths=LENGTHS))
    assert "rank=2" in repr(one)
    with pytest.raises(RuntimeError, match="size mismatch"):
        layer(partitioned([2, 2]), rank=2).load_state_dict(one.state_dict())


def test_moves_between_types_and_back():
    crf = layer(one_per_label(3), dtype=torch.float32)
    emissions, tags = draw(crf.space, dtype=torch.float32)
    assert crf(emissions, tags, lengths=LENGTHS).dtype == torch.float32
    assert crf.double()(emissions.double(), tags, lengths=LENGTHS).dtype == torch.float64


# ---- bad input ---------------------------------------------------------------------------------------------------

X, Y = torch.zeros(2, 3, 4), torch.zeros(2, 3, dtype=torch.long)
BAD = {
    "shape of emissions": (lambda c: c(torch.zeros(2, 3, 5), Y), r"\(2, 3, 5\); \(batch, time, 4\) is expected"),
    "type of emissions": (lambda c: c(X.long(), Y), "torch.int64; float32 or float64"),
    "shape of tags": (lambda c: c(X, Y[:, :2]), r"shape \(2, 2\); whole numbers of the shape \(2, 3\)"),
    "type of tags": (lambda c: c(X, Y.float()), "torch.float32"),
    "range of tags": (
        lambda c: c(X, Y + torch.tensor([0, 0, 4])),
        "sequence 0, position 2 is 4; tags are numbers from",
    ),
    "shape of mask": (lambda c: c(X, Y, torch.ones(2, 2).bool()), r"mask has the shape \(2, 2\)"),
    "empty row": (lambda c: c(X, Y, torch.tensor([[1, 1, 1], [0, 0, 0]]).bool()), "Sequence 1 has no position"),
    "mask and lengths": (lambda c: c(X, Y, torch.ones(2, 3).bool(), lengths=[3, 3]), "give one of them"),
    "lengths": (lambda c: c(X, Y, lengths=[3, 4]), "Sequence 1 has the length 4, but the batch has 3"),
    "number of lengths": (lambda c: c(X, Y, lengths=[3]), "1 lengths for 2 sequences"),
    "sum of lengths": (lambda c: c(X[0], Y[0], lengths=[1, 1]), "lengths add up to 2"),
    "kind of lengths": (lambda c: c(X, Y, lengths=[1.5, 2.0]), "whole numbers"),
    "mask of ragged": (lambda c: c(X[0], Y[0], torch.ones(3).bool()), "have no mask"),
    "NaN": (lambda c: c(X.index_fill(1, torch.tensor([1]), math.nan), Y), "sequence 0 hold nan at position 1, row 0"),
    "infinity": (lambda c: c.decode(X + math.inf), "sequence 0 hold inf at position 0"),
    "empty set": (lambda c: c(X, torch.zeros(2, 3, 4).bool()), "sequence 0, position 0 allow no label"),
    "reduction": (lambda c: c(X, Y, reduction="max"), "Unknown reduction 'max'"),
    "decoder": (lambda c: c.decode(X, decoder="best"), "Unknown decoder 'best'"),
    "an array": (lambda c: c(X.numpy(), Y), "emissions is of the type ndarray; a tensor is expected"),
    "tags in a list": (lambda c: c(X, Y.tolist()), "tags is of the type list; a tensor is expected"),
    "mask in a list": (lambda c: c(X, Y, [[1, 1, 1], [1, 1, 0]]), "mask is of the type list; a tensor is expected"),
    "n": (lambda c: c.n_best(X, 0), "n is 0"),
    "half a path": (lambda c: c.n_best(X, 1.5), "n is 1.5; a whole number is expected"),
    "samples": (lambda c: c.sample(X, 0), "n is 0"),
    "num_tags": (lambda c: CRF(0), "num_tags is 0"),
    "rank": (lambda c: CRF(3, rank=0), "rank is 0"),
    "shared": (lambda c: CRF(second_order(partitioned([2, 2])), shared=True), "first order"),
    "engine": (lambda c: CRF(3, engine="fast"), "engine is 'fast'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_a_sentence(name):
    call, message = BAD[name]
    with pytest.raises((DataError, ConfigError), match=message):
        call(CRF(4, batch_first=True))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sequence_without_a_path_is_named(engine):
    crf = CRF(4, batch_first=True, engine=engine)
    x = X.clone()
    x[1, 2] = -math.inf
    for call in (lambda: crf(x, Y), lambda: crf.decode(x), lambda: crf.marginals(x)):
        with pytest.raises(NoPathError, match="Sequence 1 has no allowed path"):
            call()
    x[1, 2, 3] = 0.0  # there is a path, but not that of the tags
    with pytest.raises(NoPathError, match="Sequence 1 has no allowed path: the rules, its tags"):
        crf(x, Y)
    bio = CRF(restrict(one_per_label(3), bio_rules()), batch_first=True, engine=engine)
    with pytest.raises(NoPathError, match="Sequence 0"):
        bio(torch.zeros(1, 2, 3), torch.tensor([[0, 2]]))


def test_ties_of_label_pairs_can_be_made_by_hand():
    """A matrix over labels, spread over states, is the same as ties of edges."""
    space = partitioned([2, 2])
    ties = label_pair_ties(space)
    crf = layer(space)
    weight = np.arange(4.0)
    with torch.no_grad():
        crf.transitions.copy_(torch.from_numpy(weight[ties].reshape(4, 4)))
    assert crf.edge_scores().tolist() == weight[ties].tolist()
