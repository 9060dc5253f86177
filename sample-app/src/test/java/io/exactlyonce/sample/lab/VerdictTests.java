package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class VerdictTests {

    @Test
    void incidentOnTheNaiveSideOnlyIsSuccess() {
        Verdict verdict = Verdict.of(Sides.withDuplicates(2), Sides.flawless());

        assertThat(verdict.objections()).isEmpty();
        assertThat(verdict.exitCode()).isZero();
        assertThat(verdict.lastLine()).isEqualTo("naive duplicates=2 lost=0 | exactly-once duplicates=0 lost=0");
    }

    @Test
    void naiveSideWithoutDuplicatesProvesNothing() {
        Verdict verdict = Verdict.of(Sides.flawless(), Sides.flawless());

        assertThat(verdict.exitCode()).isEqualTo(1);
        assertThat(verdict.objections()).singleElement().asString().contains("the incident did not happen");
    }

    @Test
    void duplicateChargeOnOurSideFails() {
        Verdict verdict = Verdict.of(Sides.withDuplicates(2), Sides.withDuplicates(3));

        assertThat(verdict.exitCode()).isEqualTo(1);
        assertThat(verdict.objections())
                .containsExactly("The exactly-once side has 3 duplicate charges; 0 are allowed");
        assertThat(verdict.lastLine()).isEqualTo("naive duplicates=2 lost=0 | exactly-once duplicates=3 lost=0");
    }

    @Test
    void honouredKeyThatTheCrashExplainsPasses() {
        assertThat(Sides.flawless().ledger().explained()).isNotEmpty();
        assertThat(Verdict.of(Sides.withDuplicates(2), Sides.flawless()).exitCode())
                .isZero();
    }

    @Test
    void honouredKeyThatNoCrashExplainsFails() {
        Verdict verdict = Verdict.of(Sides.withDuplicates(2), Sides.withUnexplained("o3", "o3", "o1"));

        assertThat(verdict.exitCode()).isEqualTo(1);
        assertThat(verdict.objections())
                .containsExactly("The exactly-once side charged again 3 times without a crash as the reason, and only"
                        + " the provider's idempotency key prevented duplicates; 0 are allowed (orders: o3, o1)");
    }

    @Test
    void onlySomeOfManyOrdersAreNamed() {
        Verdict verdict =
                Verdict.of(Sides.withDuplicates(2), Sides.withUnexplained("o1", "o2", "o3", "o4", "o5", "o6"));

        assertThat(verdict.objections()).singleElement().asString().endsWith("(orders: o1, o2, o3, o4, o5, ...)");
    }

    @Test
    void lostOrderOnOurSideFails() {
        SideFigures lossy = Sides.of(Sides.charges(1), Set.of("o2"), Set.of("w1"), List.of(), 0);
        Verdict verdict = Verdict.of(Sides.withDuplicates(2), lossy);

        assertThat(verdict.exitCode()).isEqualTo(1);
        assertThat(verdict.objections()).containsExactly("The exactly-once side lost 2 orders; 0 are allowed");
        assertThat(verdict.lastLine()).isEqualTo("naive duplicates=2 lost=0 | exactly-once duplicates=0 lost=2");
    }

    @Test
    void orderThatOurSideShipsTwiceOrNeverFails() {
        assertThat(Verdict.of(Sides.withDuplicates(2), Sides.withShipmentsOfFirstOrder(2))
                        .objections())
                .containsExactly("The exactly-once side shipped 1 orders more than once; 0 are allowed");
        assertThat(Verdict.of(Sides.withDuplicates(2), Sides.withShipmentsOfFirstOrder(0))
                        .objections())
                .containsExactly("The exactly-once side did not ship 1 orders; 0 are allowed");
    }

    @Test
    void runWithoutACrashFails() {
        SideFigures unharmed = Sides.of(Sides.charges(1), Sides.ORDERS, Set.of(), List.of(), 0);

        assertThat(Verdict.of(Sides.withDuplicates(2), unharmed).objections())
                .containsExactly("No exactly-once worker was killed in mid-handler; send more orders");
    }

    @Test
    void queueThatIsNotDrainedFails() {
        SideFigures undrained = Sides.of(Sides.charges(1), Sides.ORDERS, Set.of("w1"), List.of(), 7);

        assertThat(Verdict.of(Sides.withDuplicates(2), undrained).objections())
                .containsExactly("The exactly-once queue still holds 7 messages; it must be drained");
    }

    @Test
    void workerThatEndedByItselfFails() {
        SideFigures side = Sides.of(Sides.charges(1), Sides.ORDERS, Set.of("w1"), List.of("w2"), 0);

        assertThat(Verdict.of(Sides.withDuplicates(2), side).objections())
                .containsExactly("Workers [w2] ended by themselves; see their logs");
    }
}
