package io.exactlyonce.sample.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LedgerTests {

    private final AtomicLong clock = new AtomicLong();
    private final Ledger ledger = new Ledger(clock::get);

    @Test
    void withoutIdempotencyKeyEachRequestCharges() {
        ledger.charge("order-1", "a", null);
        ledger.charge("order-1", "b", null);
        ledger.charge("order-1", "b", null);
        ledger.charge("order-2", "b", null);

        Statement statement = ledger.statement();
        assertThat(statement.total()).isEqualTo(4);
        assertThat(statement.duplicates()).isEqualTo(2);
        assertThat(statement.ordersChargedTwiceOrMore()).isEqualTo(1);
        assertThat(statement.honouredTotal()).isZero();
    }

    @Test
    void secondRequestWithAKeyIsAnsweredWithTheFirstCharge() {
        Charge first = ledger.charge("order-1", "a", "key-1");
        Charge second = ledger.charge("order-1", "b", "key-1");

        assertThat(second).isEqualTo(first);
        Statement statement = ledger.statement();
        assertThat(statement.total()).isEqualTo(1);
        assertThat(statement.duplicates()).isZero();
        assertThat(statement.honouredTotal()).isEqualTo(1);
    }

    @Test
    void honouredRequestWithoutACrashIsUnexplained() {
        ledger.charge("order-1", "a", "key-1");
        ledger.charge("order-1", "b", "key-1");
        ledger.charge("order-1", "a", "key-1");

        assertThat(ledger.statement().explained()).isEmpty();
        assertThat(ledger.statement().unexplained()).containsExactly("order-1", "order-1");
    }

    @Test
    void crashInMidHandlerExplainsOneHonouredRequest() {
        ledger.charge("order-1", "killed", "key-1");
        ledger.killed("killed");
        ledger.charge("order-1", "other", "key-1");
        assertThat(ledger.statement().explained()).containsExactly("order-1");
        assertThat(ledger.statement().unexplained()).isEmpty();

        ledger.charge("order-1", "third", "key-1");
        assertThat(ledger.statement().explained()).containsExactly("order-1");
        assertThat(ledger.statement().unexplained()).containsExactly("order-1");
    }

    @Test
    void crashExplainsNothingThatCameBeforeIt() {
        ledger.charge("order-1", "killed", "key-1");
        ledger.charge("order-1", "other", "key-1");
        ledger.killed("killed");

        assertThat(ledger.statement().unexplained()).containsExactly("order-1");
    }

    @Test
    void crashExplainsNoOrderOfAnotherWorker() {
        ledger.charge("order-1", "other", "key-1");
        ledger.killed("killed");
        ledger.charge("order-1", "third", "key-1");

        assertThat(ledger.statement().unexplained()).containsExactly("order-1");
    }

    @Test
    void crashExplainsNoSecondRequestOfTheKilledWorkerItself() {
        ledger.charge("order-1", "killed", "key-1");
        ledger.killed("killed");
        ledger.charge("order-1", "killed", "key-1");

        assertThat(ledger.statement().unexplained()).containsExactly("order-1");
    }

    @Test
    void chargeThatReachesTheProviderJustAfterTheKillIsInTheKilledWorkersHands() {
        ledger.killed("killed");
        ledger.charge("order-1", "killed", "key-1");
        ledger.charge("order-1", "other", "key-1");

        assertThat(ledger.statement().explained()).containsExactly("order-1");
    }

    @Test
    void handlerThatWasAnsweredJustBeforeTheCrashMayNotHaveRecordedIt() {
        ledger.charge("order-1", "killed", "key-1");
        ledger.answered("order-1", "killed");
        pass(CrashEvidence.SETTLING);
        ledger.killed("killed");
        ledger.charge("order-1", "other", "key-1");

        assertThat(ledger.statement().explained()).containsExactly("order-1");
    }

    @Test
    void crashExplainsNoOrderThatTheKilledWorkerWasDoneWith() {
        ledger.charge("order-1", "killed", "key-1");
        ledger.answered("order-1", "killed");
        pass(CrashEvidence.SETTLING.plusMillis(1));
        ledger.killed("killed");
        ledger.charge("order-1", "other", "key-1");

        assertThat(ledger.statement().unexplained()).containsExactly("order-1");
    }

    @Test
    void sameOrderUnderTwoKeysIsChargedTwice() {
        ledger.charge("order-1", "a", "key-1");
        ledger.charge("order-1", "a", "key-2");

        assertThat(ledger.statement().duplicates()).isEqualTo(1);
    }

    @Test
    void keyOfAnotherOrderIsRefused() {
        ledger.charge("order-1", "a", "key-1");

        assertThatExceptionOfType(KeyReusedException.class)
                .isThrownBy(() -> ledger.charge("order-2", "a", "key-1"))
                .withMessageContainingAll("order-1", "order-2");
        assertThat(ledger.statement().charges()).containsOnlyKeys("order-1");
    }

    @Test
    void statementDoesNotChangeAfterwards() {
        Statement before = ledger.statement();
        ledger.charge("order-1", "a", null);

        assertThat(before.total()).isZero();
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }
}
