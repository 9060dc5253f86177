package io.exactlyonce.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

class CommitListenerTests {

    private final ScriptedTransactions transactions = new ScriptedTransactions();

    /** One line for each check: the place of the check, and whether the transaction is still open or over. */
    private final List<String> seen = new ArrayList<>();

    @BeforeEach
    void listen() {
        transactions.addListener(new CommitListener());
    }

    @AfterEach
    void nothingIsLeftOnTheThread() {
        assertThat(CommitListener.mayRollBack()).isFalse();
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
        assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                .isFalse();
    }

    private void look(String place) {
        seen.add(place + " " + (CommitListener.mayRollBack() ? "open" : "over"));
    }

    private void inTransaction(Runnable action) {
        transactions.run(TransactionDefinition.PROPAGATION_REQUIRED, action);
    }

    private void register(String name, Runnable afterCommit) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                look(name + " before commit");
            }

            @Override
            public void beforeCompletion() {
                look(name + " before completion");
            }

            @Override
            public void afterCommit() {
                look(name + " after commit");
                afterCommit.run();
            }

            @Override
            public void afterCompletion(int status) {
                look(name + " after completion");
            }
        });
    }

    @Test
    void transactionIsOverFromAfterCommitOn() {
        transactions.duringCommit(() -> look("commit"));

        look("outside");
        inTransaction(() -> {
            register("one", () -> {});
            register("two", () -> {});
            look("inside");
        });
        look("outside");

        assertThat(seen)
                .containsExactly(
                        "outside over",
                        "inside open",
                        "one before commit open",
                        "two before commit open",
                        "one before completion open",
                        "two before completion open",
                        "commit open",
                        "one after commit over",
                        "two after commit over",
                        "one after completion over",
                        "two after completion over",
                        "outside over");
    }

    /**
     * The test's callback runs before the callback of the listener: both have the same order, and the test registers
     * first.
     */
    @Test
    void transactionIsOverAlsoForTheFirstCallbackAfterItsCommit() {
        inTransaction(() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public int getOrder() {
                return HIGHEST_PRECEDENCE;
            }

            @Override
            public void afterCommit() {
                look("after commit");
            }
        }));

        assertThat(seen).containsExactly("after commit over");
    }

    @Test
    void transactionThatIsRolledBackIsOverAfterCompletion() {
        new TransactionTemplate(transactions).executeWithoutResult(status -> {
            register("one", () -> {});
            status.setRollbackOnly();
        });

        assertThat(seen).containsExactly("one before completion open", "one after completion over");
    }

    @Test
    void transactionWhoseCommitFailsIsOverAfterCompletion() {
        transactions.duringCommit(() -> {
            throw new IllegalStateException("connection reset");
        });

        assertThatThrownBy(() -> inTransaction(() -> register("one", () -> {}))).hasMessage("connection reset");

        assertThat(seen)
                .containsExactly("one before commit open", "one before completion open", "one after completion over");
    }

    @Test
    void transactionWithoutOtherCallbacksGetsNone() {
        inTransaction(() -> assertThat(TransactionSynchronizationManager.getSynchronizations())
                .isEmpty());
        transactions.duringCommit(() -> assertThat(TransactionSynchronizationManager.getSynchronizations())
                .isEmpty());
        inTransaction(() -> look("inside"));

        assertThat(seen).containsExactly("inside open");
    }

    /** The first transaction is suspended meanwhile, and resumed before its commit. */
    @Test
    void transactionThatIsResumedBeforeItsCommitIsOpen() {
        inTransaction(() -> {
            register("outer", () -> {});
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCompletion() {
                    transactions.run(TransactionDefinition.PROPAGATION_REQUIRES_NEW, () -> look("inner"));
                    look("resumed");
                }
            });
        });

        assertThat(seen)
                .containsExactly(
                        "outer before commit open",
                        "outer before completion open",
                        "inner open",
                        "resumed open",
                        "outer after commit over",
                        "outer after completion over");
    }

    /**
     * A callback runs after the commit of the first transaction, and starts a second transaction. Then the other
     * callback of the first transaction runs.
     */
    @Test
    void transactionThatBeginsAfterACommitIsOpen() {
        inTransaction(() -> {
            register("first", () -> {
                transactions.run(TransactionDefinition.PROPAGATION_REQUIRES_NEW, () -> look("inner"));
                look("between");
                transactions.run(TransactionDefinition.PROPAGATION_REQUIRES_NEW, () -> register("inner", () -> {}));
            });
            register("second", () -> {});
        });

        assertThat(seen.stream().filter(line -> !line.contains("before")))
                .containsExactly(
                        "first after commit over",
                        "inner open",
                        "between over",
                        "inner after commit over",
                        "inner after completion over",
                        "second after commit over",
                        "first after completion over",
                        "second after completion over");
    }

    @Test
    void outerTransactionIsOpenAfterTheCommitOfAnInnerOne() {
        inTransaction(() -> {
            register("outer", () -> {});
            transactions.run(TransactionDefinition.PROPAGATION_REQUIRES_NEW, () -> register("inner", () -> {}));
            look("outer");
        });

        assertThat(seen.stream().filter(line -> !line.contains("before")))
                .containsExactly(
                        "inner after commit over",
                        "inner after completion over",
                        "outer open",
                        "outer after commit over",
                        "outer after completion over");
    }

    /** Work that takes part in an open transaction may be rolled back with that transaction. */
    @ParameterizedTest
    @ValueSource(
            ints = {
                TransactionDefinition.PROPAGATION_REQUIRED,
                TransactionDefinition.PROPAGATION_NESTED,
                TransactionDefinition.PROPAGATION_SUPPORTS,
                TransactionDefinition.PROPAGATION_MANDATORY,
                TransactionDefinition.PROPAGATION_REQUIRES_NEW
            })
    void everyPropagationThatRunsInATransactionIsOpen(int propagation) {
        inTransaction(() -> transactions.run(propagation, () -> look("inside")));

        assertThat(seen).containsExactly("inside open");
    }

    @Test
    void codeWithoutATransactionIsOutsideOfOne() {
        inTransaction(() -> transactions.run(TransactionDefinition.PROPAGATION_NOT_SUPPORTED, () -> look("suspended")));
        transactions.run(TransactionDefinition.PROPAGATION_SUPPORTS, () -> look("supports"));
        transactions.run(TransactionDefinition.PROPAGATION_NEVER, () -> look("never"));

        assertThat(seen).containsExactly("suspended over", "supports over", "never over");
    }

    @Test
    void readOnlyTransactionIsOneToo() {
        TransactionTemplate readOnly = new TransactionTemplate(transactions);
        readOnly.setReadOnly(true);

        readOnly.executeWithoutResult(status -> look("inside"));

        assertThat(seen).containsExactly("inside open");
    }

    /** The library treats a transaction as open until its completion if no listener reports the commit. */
    @Test
    void afterCommitOfAnUnknownManagerPassesForOpen() {
        transactions.setTransactionExecutionListeners(List.of());

        inTransaction(() -> register("one", () -> {}));

        assertThat(seen).contains("one after commit open", "one after completion over");
    }
}
