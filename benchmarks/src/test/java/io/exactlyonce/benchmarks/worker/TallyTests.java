package io.exactlyonce.benchmarks.worker;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TallyTests {

    private final Tally tally = new Tally();

    @Test
    void ordersThatAreHandledTooOftenAndThoseThatAreNotAreCounted() {
        tally.begin(3);

        tally.handled(order(0));
        tally.handled(order(2));
        tally.handled(order(2));
        tally.handled(order(2));

        assertThat(tally.duplicates()).isEqualTo(2);
        assertThat(tally.losses()).isEqualTo(1);
    }

    @Test
    void eachTurnBeginsAnew() {
        tally.begin(1);
        tally.handled(order(0));
        tally.handled(order(0));

        tally.begin(1);
        tally.handled(order(0));

        assertThat(tally.duplicates() + tally.losses()).isZero();
    }

    private static Order order(int number) {
        return new Order("order-" + number, number, 1);
    }
}
