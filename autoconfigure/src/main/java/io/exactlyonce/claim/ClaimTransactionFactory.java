package io.exactlyonce.claim;

import org.springframework.transaction.PlatformTransactionManager;

/** Makes claim transactions of the application's transaction managers. */
@FunctionalInterface
public interface ClaimTransactionFactory {

    /**
     * Makes a claim transaction.
     *
     * @param manager the application's transaction manager
     * @param named whether the handler names its manager; if not, it is presumed to write through the application's only
     *     or primary DataSource, which must join the manager's transactions then
     * @throws UnsupportedTransactionException if claims cannot be kept in this manager's transactions
     */
    ClaimTransaction create(PlatformTransactionManager manager, boolean named);
}
