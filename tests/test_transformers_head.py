"""The head for Hugging Face's encoders, on a small one that is made on the spot."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from transformers import AutoModelForTokenClassification, BertConfig, BertModel  # noqa: E402

from chainfield.errors import ConfigError, DataError  # noqa: E402
from chainfield.transformers import CRFForTokenClassification, align_labels  # noqa: E402

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def small(seed: int = 0, **more: Any) -> Any:
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=32,
    )  # fmt: skip
    return CRFForTokenClassification.around(BertModel(config), LABELS, scheme="bio", **more)


def batch() -> dict[str, Any]:
    rng = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 50, (4, 9), generator=rng)
    attention = torch.ones_like(ids)
    attention[1, 6:] = 0
    labels = torch.full_like(ids, -100)
    labels[:, 1:6:2] = torch.tensor([[1, 2, 0], [0, 3, 4], [0, 0, 0], [1, 0, 3]])
    return {"input_ids": ids, "attention_mask": attention, "labels": labels}


def test_the_loss_is_that_of_the_chain_over_labelled_positions() -> None:
    model, data = small().eval(), batch()
    found = model(**data)
    crf = model.crf
    compact = found.logits[:, 1:6:2]
    expected = -crf(compact, data["labels"][:, 1:6:2], reduction="mean")
    torch.testing.assert_close(found.loss, expected, rtol=1e-5, atol=1e-6)
    assert torch.equal(found.predictions == -100, data["labels"] == -100)
    assert found.predictions[:, 1:6:2].tolist() == crf.decode(compact)


def test_predictions_obey_the_scheme_and_the_mask() -> None:
    model, data = small(seed=3).eval(), batch()
    with torch.no_grad():
        model.crf.transitions[0, 2] = 100.0  # O → I-PER would win, if it existed
    del data["labels"]
    mask = torch.zeros_like(data["attention_mask"])
    mask[:, 1:5], mask[2] = 1, 0
    found = model(**data, word_mask=mask)
    assert found.loss is None
    assert found.predictions[2].tolist() == [-100] * 9
    for row in found.predictions[[0, 1, 3], 1:5].tolist():
        names = ["O", *(LABELS[y] for y in row)]
        for before, after in pairwise(names):
            assert after[0] != "I" or before[1:] == after[1:]
    p = model.probabilities(found.logits, mask.bool())
    torch.testing.assert_close(p[0, 1:5].sum(-1), torch.ones(4), rtol=1e-5, atol=1e-5)


def test_saving_and_loading(tmp_path: Path) -> None:
    model, data = small().eval(), batch()
    model.save_pretrained(tmp_path)
    for kind in (CRFForTokenClassification, AutoModelForTokenClassification):
        loaded = kind.from_pretrained(tmp_path).eval()
        assert isinstance(loaded, CRFForTokenClassification)
        assert loaded.config.id2label == dict(enumerate(LABELS))
        again, first = loaded(**data), model(**data)
        torch.testing.assert_close(again.logits, first.logits, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(again.loss, first.loss, rtol=1e-5, atol=1e-6)
        assert torch.equal(again.predictions, first.predictions)


def test_it_learns() -> None:
    model, data = small(dropout=0.0), batch()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    model.train()
    for _ in range(60):
        optimizer.zero_grad()
        found = model(**data)
        found.loss.backward()
        optimizer.step()
    assert found.predictions is None
    assert torch.equal(model.eval()(**data).predictions, data["labels"])


def test_the_trainer_takes_it(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    data = batch()
    rows = [{name: values[i] for name, values in data.items()} for i in range(4)]
    options = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=2, report_to=[], use_cpu=True, save_strategy="no", logging_strategy="no"
    )
    trainer = transformers.Trainer(model=small(), args=options, train_dataset=rows, eval_dataset=rows)
    trainer.train()
    found = trainer.predict(rows)
    assert found.predictions[1].shape == (4, 9)
    assert (found.predictions[1][:, 0] == -100).all()


def test_words_and_pieces() -> None:
    class Encoding(dict):  # type: ignore[type-arg]
        def word_ids(self, s: int) -> list[int | None]:
            return [[None, 0, 0, 1, None], [None, 0, 1, 2, None]][s]

    encoding = Encoding(input_ids=[[0] * 5, [0] * 5])
    numbers = {label: i for i, label in enumerate(LABELS)}
    found = align_labels(encoding, [["B-PER", "O"], ["O", "O", "B-LOC"]], numbers)
    assert found["labels"] == [[-100, 1, -100, 0, -100], [-100, 0, 0, 3, -100]]
    assert found["word_mask"] == [[0, 1, 0, 1, 0], [0, 1, 1, 1, 0]]
    assert align_labels(encoding, None) == {"word_mask": found["word_mask"]}
    with pytest.raises(DataError, match="Sequence 1 has 3 words, but 2 labels"):
        align_labels(encoding, [["O", "O"], ["O", "O"]], numbers)
    with pytest.raises(DataError, match="Sequence 0 has the label 'B-ORG'"):
        align_labels(encoding, [["B-ORG", "O"], ["O"] * 3], numbers)


def test_bad_input() -> None:
    with pytest.raises(ConfigError, match="differ from each other"):
        CRFForTokenClassification.around(small().encoder, ["O", "O"])
    data = batch()
    with pytest.raises(DataError, match=r"labels has the shape \(4, 8\)"):
        small()(data["input_ids"], labels=data["labels"][:, :8])
