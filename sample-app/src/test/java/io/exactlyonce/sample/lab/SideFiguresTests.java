package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SideFiguresTests {

    @Test
    void nothingIsLostIfEachOrderIsChargedAndRecorded() {
        assertThat(Sides.flawless().lost()).isZero();
        assertThat(Sides.flawless().duplicates()).isZero();
    }

    @Test
    void orderWithoutChargeIsLost() {
        SideFigures side = Sides.of(Sides.charges(0), Sides.ORDERS, Set.of(), List.of(), 0);
        assertThat(side.lost()).isEqualTo(1);
    }

    @Test
    void orderWithoutRowIsLost() {
        SideFigures side = Sides.of(Sides.charges(1), Set.of("o2"), Set.of(), List.of(), 0);
        assertThat(side.lost()).isEqualTo(2);
    }

    @Test
    void orderWithoutChargeAndRowIsLostOnce() {
        SideFigures side = Sides.of(Sides.charges(0), Set.of("o2", "o3"), Set.of(), List.of(), 0);
        assertThat(side.lost()).isEqualTo(1);
    }

    @Test
    void chargeRequestsIncludeTheHonouredOnes() {
        assertThat(Sides.flawless().chargeRequests()).isEqualTo(5);
        assertThat(Sides.withUnexplained("o3").chargeRequests()).isEqualTo(6);
    }

    @Test
    void latencyIsSetAgainstTheVisibilityTimeout() {
        assertThat(Sides.flawless().p95InPercentOfWindow()).isEqualTo(300);
    }
}
