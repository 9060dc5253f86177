package io.exactlyonce.operations;

import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.delivery.InDoubtSettings;

/**
 * Runs actions once per key, with the application's claim store.
 *
 * @param store called before each action: checks that claims can be stored, and throws if they cannot. After the check
 *     has passed once, further calls do nothing
 */
public record DefaultExactlyOnceOperations(ActionExecutor executions, Runnable store) implements ExactlyOnceOperations {

    @Override
    public OnceCall<RuntimeException> once(String scope, String key) {
        return new KeyedCall<>(executions, store, KeyRules.key(scope, key), null, InDoubtSettings.RERUN);
    }
}
