package io.exactlyonce.benchmarks.drain;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import org.junit.jupiter.api.Test;

class OrdersTests {

    @Test
    void withoutDuplicatesEachMessageIsAboutAnOrderOfItsOwn() {
        Orders orders = Orders.of(1, 1_000, 0);

        assertThat(orders.different()).isEqualTo(1_000);
        assertThat(new HashSet<>(orders.bodies())).hasSize(1_000);
    }

    @Test
    void eachFifthMessageRepeatsAnEarlierOne() {
        Orders orders = Orders.of(1, 1_000, 5);

        assertThat(orders.different()).isEqualTo(800);
        assertThat(orders.bodies()).hasSize(1_000);
        assertThat(new HashSet<>(orders.bodies())).hasSize(800);
        assertThat(orders.bodies().subList(0, 4)).contains(orders.bodies().get(4));
    }

    @Test
    void allContestantsGetTheSameMessages() {
        assertThat(Orders.of(3, 100, 5)).isEqualTo(Orders.of(3, 100, 5));
    }

    @Test
    void eachTurnHasKeysOfItsOwn() {
        assertThat(Orders.of(1, 100, 0).bodies())
                .doesNotContainAnyElementsOf(Orders.of(2, 100, 0).bodies());
    }
}
