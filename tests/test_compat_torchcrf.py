"""pytorch-crf's layer on this library's engine, and half precision."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest

torch = pytest.importorskip("torch")

from chainfield.compat.torchcrf import CRF  # noqa: E402
from chainfield.torch import CRF as Layer  # noqa: E402

HALF = (torch.float16, torch.bfloat16)


def batch(seed=0, batch_first=False):
    generator = torch.Generator().manual_seed(seed)
    emissions = torch.randn(4, 3, 5, generator=generator) * 20
    tags = torch.randint(5, (4, 3), generator=generator)
    mask = torch.tensor([[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0]], dtype=torch.bool)
    parts = (emissions, tags, mask)
    return tuple(part.transpose(0, 1) for part in parts) if batch_first else parts


@pytest.mark.parametrize("batch_first", [False, True])
def test_numbers_are_those_of_the_layer(batch_first):
    crf = CRF(5, batch_first)
    plain = Layer(5, batch_first)
    plain.load_state_dict(crf.state_dict())
    emissions, tags, mask = batch(batch_first=batch_first)
    assert crf(emissions, tags, mask, "token_mean") == plain(emissions, tags, mask, "token_mean")
    assert crf.decode(emissions, mask) == plain.decode(emissions, mask)
    assert repr(crf) == "CRF(num_tags=5)"
    assert pickle.loads(pickle.dumps(crf)).decode(emissions) == copy.deepcopy(crf).decode(emissions)


@pytest.mark.parametrize("batch_first", [False, True])
def test_scripted_layers_share_their_parameters(batch_first):
    crf = CRF(5, batch_first)
    emissions, tags, mask = batch(batch_first=batch_first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit.script is deprecated
        scripted = torch.jit.script(crf)
        assert scripted.decode(emissions, mask) == crf.decode(emissions, mask)
        loss = scripted(emissions, tags, mask)
    assert loss.item() == crf(emissions, tags, mask).item()
    loss.backward()
    assert crf.transitions.grad.abs().sum() > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda crf, e, t, m: CRF(0), "invalid number of tags: 0"),
        (lambda crf, e, t, m: crf(e[0], t), "emissions must have dimension of 3, got 2"),
        (lambda crf, e, t, m: crf(e[..., :4], t), "expected last dimension of emissions is 5, got 4"),
        (lambda crf, e, t, m: crf(e, t[:3]), r"of emissions and tags must match, got \(4, 3\) and \(3, 3\)"),
        (lambda crf, e, t, m: crf.decode(e, m[:3]), r"of emissions and mask must match, got \(4, 3\) and \(3, 3\)"),
        (lambda crf, e, t, m: crf(e, t, ~m), "mask of the first timestep must all be on"),
        (lambda crf, e, t, m: crf(e, t, m, "foo"), "invalid reduction: foo"),
    ],
)
def test_errors_have_the_words_of_pytorch_crf(call, message):
    with pytest.raises(ValueError, match=message):
        call(CRF(5), *batch())


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("engine", ["compiled", "torch"])
def test_half_precision_is_computed_in_single_precision(dtype, engine):
    layer = Layer(5, engine=engine)
    emissions, tags, mask = batch()
    half, single = (emissions.to(kind).requires_grad_(True) for kind in (dtype, torch.float32))
    single.data = half.data.float()
    losses = [layer(x, tags, mask, "none") for x in (half, single)]
    assert losses[0].dtype == torch.float32
    torch.testing.assert_close(losses[0], losses[1])
    for loss in losses:
        loss.sum().backward()
    assert half.grad.dtype == dtype
    torch.testing.assert_close(half.grad.float(), single.grad, atol=0.01, rtol=0.01)
    assert layer.decode(half, mask) == layer.decode(single, mask)
    assert layer.n_best(half, 2, mask)[0][0][0] == layer.decode(single, mask)[0]
    for name in ("marginals", "label_marginals", "log_partition", "expected_transitions"):
        found = getattr(layer, name)(half, mask)
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, getattr(layer, name)(single, mask))


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("rank", [None, 2])
def test_layers_in_half_precision_and_autocast(dtype, rank):
    emissions, tags, mask = batch()
    layer = Layer(5, rank=rank).to(dtype)
    loss = layer(emissions.to(dtype), tags, mask)
    loss.backward()
    assert loss.dtype == torch.float32
    assert all(p.grad.dtype == dtype and p.grad.isfinite().all() for p in layer.parameters())
    linear, layer = torch.nn.Linear(5, 5), Layer(5, rank=rank)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = layer(linear(emissions), tags, mask)
    loss.backward()
    assert loss.dtype == torch.float32
    assert linear.weight.grad.isfinite().all()
