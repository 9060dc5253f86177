package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.primary.SynchronousCommit;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ReflectionUtils;

class FlushingCallersTests {

    private final PrimaryPinnedDataSource own =
            new PrimaryPinnedDataSource("jdbc:postgresql://localhost/nobody-connects", "user", null, 2);
    private final BooleanSupplier mayFlush = FlushingCallers.of(own);

    @AfterEach
    void clear() {
        TransactionSynchronizationManager.clear();
        own.close();
    }

    @Test
    void platformThreadMay() {
        assertThat(mayFlush.getAsBoolean()).isTrue();
    }

    /** It may look at what is bound to the thread, such as a tenant. */
    @Test
    void nobodyMayOverAnApplicationsPool() {
        PrimaryPinnedDataSource marked =
                PrimaryPinnedDataSource.around(mock(DataSource.class), 5, SynchronousCommit.ON);

        assertThat(FlushingCallers.of(marked).getAsBoolean()).isFalse();
    }

    @Test
    void threadInATransactionMayNot() {
        TransactionSynchronizationManager.setActualTransactionActive(true);

        assertThat(mayFlush.getAsBoolean()).isFalse();
    }

    /** Also without a transaction, connections are bound to the thread then. */
    @Test
    void threadWithSynchronizationMayNot() {
        TransactionSynchronizationManager.initSynchronization();
        try {
            assertThat(mayFlush.getAsBoolean()).isFalse();
        } finally {
            TransactionSynchronizationManager.clearSynchronization();
        }
    }

    /** The end of our own transaction would wipe it out. */
    @Test
    void threadThatIsMarkedAsReadOnlyMayNot() {
        TransactionSynchronizationManager.setCurrentTransactionReadOnly(true);

        assertThat(mayFlush.getAsBoolean()).isFalse();
    }

    @Test
    void virtualThreadMayNot() {
        Assumptions.assumeTrue(
                ReflectionUtils.findMethod(Thread.class, "isVirtual") != null, "This Java has no virtual threads");
        var virtual = new SimpleAsyncTaskExecutor();
        virtual.setVirtualThreads(true);

        assertThat(CompletableFuture.supplyAsync(mayFlush::getAsBoolean, virtual)
                        .join())
                .isFalse();
    }
}
