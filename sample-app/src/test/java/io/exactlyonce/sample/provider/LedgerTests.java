package io.exactlyonce.sample.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;

class LedgerTests {

    private final Ledger ledger = new Ledger();

    @Test
    void withoutIdempotencyKeyEachRequestCharges() {
        ledger.charge("order-1", "a", null, false);
        ledger.charge("order-1", "b", null, false);
        ledger.charge("order-1", "b", null, false);
        ledger.charge("order-2", "b", null, false);

        Statement statement = ledger.statement();
        assertThat(statement.total()).isEqualTo(4);
        assertThat(statement.duplicates()).isEqualTo(2);
        assertThat(statement.ordersChargedTwiceOrMore()).isEqualTo(1);
        assertThat(statement.honouredTotal()).isZero();
    }

    @Test
    void secondRequestWithAKeyIsAnsweredWithTheFirstCharge() {
        Charge first = ledger.charge("order-1", "a", "key-1", false);
        Charge second = ledger.charge("order-1", "b", "key-1", true);

        assertThat(second).isEqualTo(first);
        Statement statement = ledger.statement();
        assertThat(statement.total()).isEqualTo(1);
        assertThat(statement.duplicates()).isZero();
        assertThat(statement.honouredTotal()).isEqualTo(1);
    }

    @Test
    void honouredRequestWithoutACrashIsUnexplained() {
        ledger.charge("order-1", "a", "key-1", false);
        ledger.charge("order-1", "b", "key-1", true);
        ledger.charge("order-1", "a", "key-1", true);

        assertThat(ledger.statement().explained()).isEmpty();
        assertThat(ledger.statement().unexplained()).containsExactly("order-1", "order-1");
    }

    @Test
    void crashInMidHandlerExplainsOneHonouredRequest() {
        ledger.charge("order-1", "killed", "key-1", false);
        ledger.killed("killed");
        ledger.charge("order-1", "other", "key-1", true);
        assertThat(ledger.statement().explained()).containsExactly("order-1");
        assertThat(ledger.statement().unexplained()).isEmpty();

        ledger.charge("order-1", "third", "key-1", true);
        assertThat(ledger.statement().explained()).containsExactly("order-1");
        assertThat(ledger.statement().unexplained()).containsExactly("order-1");
    }

    @Test
    void crashExplainsNothingThatCameBeforeIt() {
        ledger.charge("order-1", "killed", "key-1", false);
        ledger.charge("order-1", "other", "key-1", true);
        ledger.killed("killed");

        assertThat(ledger.statement().unexplained()).containsExactly("order-1");
    }

    @Test
    void crashExplainsNoOrderOfAnotherWorker() {
        ledger.charge("order-1", "other", "key-1", false);
        ledger.killed("killed");
        ledger.charge("order-1", "third", "key-1", true);

        assertThat(ledger.statement().unexplained()).containsExactly("order-1");
    }

    @Test
    void crashExplainsNoSecondRequestOfTheKilledWorkerItself() {
        ledger.charge("order-1", "killed", "key-1", false);
        ledger.killed("killed");
        ledger.charge("order-1", "killed", "key-1", true);

        assertThat(ledger.statement().unexplained()).containsExactly("order-1");
    }

    @Test
    void chargeThatReachesTheProviderJustAfterTheKillIsInTheKilledWorkersHands() {
        ledger.killed("killed");
        ledger.charge("order-1", "killed", "key-1", false);
        ledger.charge("order-1", "other", "key-1", true);

        assertThat(ledger.statement().explained()).containsExactly("order-1");
    }

    @Test
    void crashExplainsNoOrderWhoseClaimIsNotInDoubt() {
        ledger.charge("order-1", "killed", "key-1", false);
        ledger.killed("killed");
        ledger.charge("order-1", "other", "key-1", false);

        assertThat(ledger.statement().explained()).isEmpty();
        assertThat(ledger.statement().unexplained()).containsExactly("order-1");
    }

    @Test
    void sameOrderUnderTwoKeysIsChargedTwice() {
        ledger.charge("order-1", "a", "key-1", false);
        ledger.charge("order-1", "a", "key-2", false);

        assertThat(ledger.statement().duplicates()).isEqualTo(1);
    }

    @Test
    void keyOfAnotherOrderIsRefused() {
        ledger.charge("order-1", "a", "key-1", false);

        assertThatExceptionOfType(KeyReusedException.class)
                .isThrownBy(() -> ledger.charge("order-2", "a", "key-1", false))
                .withMessageContainingAll("order-1", "order-2");
        assertThat(ledger.statement().charges()).containsOnlyKeys("order-1");
    }

    @Test
    void statementDoesNotChangeAfterwards() {
        Statement before = ledger.statement();
        ledger.charge("order-1", "a", null, false);

        assertThat(before.total()).isZero();
    }
}
