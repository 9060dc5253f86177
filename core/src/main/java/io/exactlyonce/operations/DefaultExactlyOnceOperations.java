package io.exactlyonce.operations;

import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.delivery.InDoubtSettings;

/**
 * Runs actions once per key, with the application's claim store.
 *
 * @param store checks before each action that the claim store can keep claims, and throws if it cannot. Does nothing
 *     more after its first success
 */
public record DefaultExactlyOnceOperations(ActionExecutor executions, Runnable store) implements ExactlyOnceOperations {

    @Override
    public OnceCall<RuntimeException> once(String scope, String key) {
        return new KeyedCall<>(executions, store, KeyRules.key(scope, key), null, InDoubtSettings.RERUN);
    }
}
