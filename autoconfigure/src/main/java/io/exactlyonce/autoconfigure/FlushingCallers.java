package io.exactlyonce.autoconfigure;

import io.exactlyonce.primary.PrimaryPinnedDataSource;
import java.lang.reflect.Method;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ReflectionUtils;

/** Tells which of the application's threads may write claims themselves, and those of others with them. */
final class FlushingCallers {

    private static final @Nullable Method IS_VIRTUAL = isVirtual();

    private FlushingCallers() {}

    /** Tells of the thread that asks whether it may write to a DataSource. */
    static BooleanSupplier of(PrimaryPinnedDataSource dataSource) {
        return dataSource.isForAnyThread() ? FlushingCallers::mayFlush : () -> false;
    }

    /**
     * What Spring has bound to a thread would keep the connection of the claims, or get lost. And an interrupt of a virtual
     * thread closes the connection that it uses, with the claims of others on it.
     */
    private static boolean mayFlush() {
        return !TransactionSynchronizationManager.isSynchronizationActive()
                && !TransactionSynchronizationManager.isActualTransactionActive()
                && !TransactionSynchronizationManager.isCurrentTransactionReadOnly()
                && TransactionSynchronizationManager.getCurrentTransactionIsolationLevel() == null
                && TransactionSynchronizationManager.getCurrentTransactionName() == null
                && !isVirtual(Thread.currentThread());
    }

    private static boolean isVirtual(Thread thread) {
        return IS_VIRTUAL != null && Boolean.TRUE.equals(ReflectionUtils.invokeMethod(IS_VIRTUAL, thread));
    }

    private static @Nullable Method isVirtual() {
        try {
            return Thread.class.getMethod("isVirtual");
        } catch (NoSuchMethodException java17) {
            return null;
        }
    }
}
