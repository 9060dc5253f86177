package io.exactlyonce.operations;

import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.delivery.InDoubtSettings;

/**
 * The operations, on a claim store.
 *
 * @param executions runs actions
 * @param store checks that claims can be stored; called before each action, and does nothing after its first success
 */
public record DefaultExactlyOnceOperations(ActionExecutor executions, Runnable store) implements ExactlyOnceOperations {

    @Override
    public OnceCall<RuntimeException> once(String scope, String key) {
        return new KeyedCall<>(executions, store, KeyRules.key(scope, key), null, InDoubtSettings.RERUN);
    }
}
