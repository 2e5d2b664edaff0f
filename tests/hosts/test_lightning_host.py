"""`Ranking` in a loop of Lightning: logged for each epoch, monitored by early stopping, as `evaluate_arrays` has it."""

import lightning
import numpy as np
import pytest
import torch
from lightning.pytorch.callbacks import EarlyStopping
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics import MetricCollection

import gainful as gf
from gainful.integrations.torchmetrics import Ranking

QUERIES, LENGTH = 6, 5
rng = np.random.default_rng(3)
FEATURES = torch.from_numpy(rng.normal(size=(QUERIES, LENGTH, 3))).float()
GRADES = torch.from_numpy(rng.integers(0, 4, (QUERIES, LENGTH))).float()


class Ranker(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
        self.ranking = Ranking("nDCG@3")
        self.others = MetricCollection({"ap": Ranking("AP"), "dcg": Ranking("DCG@3")})
        self.several = Ranking("RR", "P@2")
        self.seen = []

    def forward(self, features):
        return self.layer(features)[..., 0]

    def training_step(self, batch, _):
        features, grades = batch
        return ((self(features) - grades) ** 2).mean()

    def validation_step(self, batch, _):
        features, grades = batch
        scores = self(features)
        self.ranking.update(scores, grades)
        self.others.update(scores, grades)
        self.several.update(scores, grades)
        self.log("val_ndcg", self.ranking, on_epoch=True)
        self.log_dict(self.others, on_epoch=True)

    def on_validation_epoch_end(self):
        self.log_dict(self.several.compute())
        self.several.reset()
        self.seen.append(self(FEATURES).detach().numpy())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


@pytest.mark.filterwarnings("ignore")  # those of Lightning about workers and logging
def test_an_epoch_has_the_value_of_all_its_queries(tmp_path):
    torch.manual_seed(0)
    data = DataLoader(TensorDataset(FEATURES, GRADES), batch_size=4)  # the last batch is shorter
    ranker = Ranker()
    stopping = EarlyStopping("val_ndcg", mode="max", patience=1)
    trainer = lightning.Trainer(
        accelerator="cpu",
        callbacks=[stopping],
        default_root_dir=tmp_path,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,
        logger=False,
        max_epochs=4,
        num_sanity_val_steps=0,
    )
    trainer.fit(ranker, data, data)
    logged = {"val_ndcg": "nDCG@3", "ap": "AP", "dcg": "DCG@3", "RR": "RR", "P@2": "P@2"}
    measures = [*logged.values()]
    expected = [
        gf.evaluate_arrays(labels=GRADES.numpy(), scores=scores, measures=measures).means
        for scores in ranker.seen
    ]
    found = {name: value.item() for name, value in trainer.callback_metrics.items()}
    assert found == pytest.approx(
        {name: expected[-1][measure] for name, measure in logged.items()}, rel=1e-6
    )
    assert stopping.best_score.item() == pytest.approx(
        max(each["nDCG@3"] for each in expected), rel=1e-6
    )
