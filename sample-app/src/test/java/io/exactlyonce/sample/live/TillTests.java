package io.exactlyonce.sample.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.sample.live.Journal.Happening;
import io.exactlyonce.sample.live.Till.InHand;
import io.exactlyonce.sample.live.Till.Takings;
import org.junit.jupiter.api.Test;

class TillTests {

    private long now;
    private final Journal journal = new Journal(() -> now);
    private final Till till = new Till("naive", journal);

    @Test
    void secondChargeOfAnOrderIsADuplicate() {
        till.charged("order-1", "a", "ch_1");
        till.charged("order-2", "a", "ch_2");
        till.charged("order-1", "b", "ch_3");

        assertThat(till.takings()).isEqualTo(new Takings(2, 3, 0, 0));
        assertThat(journal.last()).extracting(Happening::what).containsExactly("charged", "charged", "duplicate");
        assertThat(journal.last()).extracting(Happening::number).containsExactly(1L, 2L, 3L);
    }

    @Test
    void ordersOfTheWarmUpDoNotCount() {
        till.charged("warm-up-1-7", "a", "ch_1");
        till.charged("warm-up-1-7", "b", "ch_2");
        till.confirmationAnswered("warm-up-1-7", "a");

        assertThat(till.takings()).isEqualTo(new Takings(0, 0, 0, 0));
        assertThat(till.inHand()).isEmpty();
        assertThat(journal.last()).isEmpty();
    }

    @Test
    void orderThatIsShippedAgainCountsOnce() {
        till.shipped("order-1", "sh_1");
        till.shipped("order-1", "sh_1");
        till.shipped("order-2", "sh_2");
        till.shipped("order-2", "sh_3");
        till.shipped("order-2", "sh_4");
        till.shipped("warm-up-1-7", "sh_5");
        till.shipped("warm-up-1-7", "sh_6");

        assertThat(till.takings()).isEqualTo(new Takings(0, 0, 0, 1));
    }

    @Test
    void chargeThatIsKnownByItsIdempotencyKeyTakesNoMoney() {
        till.charged("order-1", "a", "ch_1");
        till.charged("order-1", "b", "ch_1");

        assertThat(till.takings()).isEqualTo(new Takings(1, 1, 1, 0));
        assertThat(journal.last()).extracting(Happening::what).containsExactly("charged", "honoured");
    }

    @Test
    void orderIsInAWorkersHandsFromItsChargeToItsConfirmation() {
        till.charged("order-1", "a", "ch_1");
        now += 2_000_000_000L;
        till.charged("order-1", "b", "ch_2");

        assertThat(till.inHand()).containsExactly(new InHand("order-1", "a", 2, 2), new InHand("order-1", "b", 0, 2));
        till.confirmationAnswered("order-1", "a");
        assertThat(till.inHand()).containsExactly(new InHand("order-1", "b", 0, 2));
    }

    @Test
    void oldestOfTwoHandlersOfAWorkerIsAnsweredFirst() {
        till.charged("order-1", "a", "ch_1");
        now += 1_000_000_000L;
        till.charged("order-1", "a", "ch_2");
        till.confirmationAnswered("order-1", "a");

        assertThat(till.inHand()).containsExactly(new InHand("order-1", "a", 0, 2));
    }

    @Test
    void workerThatIsKilledHasNothingInItsHands() {
        till.charged("order-1", "a", "ch_1");
        till.charged("order-2", "b", "ch_2");
        till.dropped("a");
        // The provider also answers the dead worker.
        till.confirmationAnswered("order-1", "a");

        assertThat(till.inHand()).extracting(InHand::order).containsExactly("order-2");
    }

    @Test
    void journalKeepsWhatHappenedLast() {
        for (int i = 1; i <= 100; i++) {
            journal.note("lab", "window", Integer.toString(i));
        }
        assertThat(journal.last())
                .hasSize(60)
                .last()
                .extracting(Happening::about)
                .isEqualTo("100");
    }
}
