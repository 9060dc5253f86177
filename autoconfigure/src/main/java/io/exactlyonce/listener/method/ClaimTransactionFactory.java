package io.exactlyonce.listener.method;

import io.exactlyonce.claim.ClaimTransaction;
import org.springframework.transaction.PlatformTransactionManager;

/** Makes claim transactions of the application's transaction managers. */
@FunctionalInterface
public interface ClaimTransactionFactory {

    /**
     * Makes a claim transaction.
     *
     * @param named whether the listener names its manager, so that its handler may use another DataSource than the
     *     application's main one
     * @throws io.exactlyonce.claim.UnsupportedTransactionException if claims cannot be kept in this manager's transactions
     */
    ClaimTransaction create(PlatformTransactionManager manager, boolean named);
}
