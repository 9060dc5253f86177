package io.exactlyonce.operations;

import io.exactlyonce.ExactlyOnceOperations.Action;
import io.exactlyonce.ExactlyOnceOperations.OnceCall;
import io.exactlyonce.ExactlyOnceOperations.VoidAction;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.fingerprint.Content;
import java.util.List;
import org.jspecify.annotations.NonNull;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterizedTypeReference;

/**
 * A call that runs its action once for its key.
 *
 * @param store checks before each action that the claim store can keep claims, and throws if it cannot. Does nothing
 *     more after its first success
 * @param content the content that must be the same in all calls with this key; {@code null} to compare nothing
 * @param doubt what happens if the key is in doubt
 */
record KeyedCall<X extends Throwable>(
        ActionExecutor executions,
        Runnable store,
        ClaimKey key,
        @Nullable Content content,
        InDoubtSettings doubt) implements OnceCall<X> {

    private static final InDoubtSettings PARK = new InDoubtSettings(InDoubtPolicy.PARK, null, List.of());

    private static final ParameterizedTypeReference<Void> NOTHING = ParameterizedTypeReference.forType(Void.class);

    @Override
    public OnceCall<X> comparing(String body) {
        return new KeyedCall<>(executions, store, key, Content.ofBody(body), doubt);
    }

    @Override
    public OnceCall<X> parkInDoubt() {
        return new KeyedCall<>(executions, store, key, content, PARK);
    }

    @Override
    public <Y extends Throwable> OnceCall<Y> throwing(Class<Y> type) {
        return new KeyedCall<>(executions, store, key, content, doubt);
    }

    @Override
    public <T extends @Nullable Object> T call(Class<@NonNull T> type, Action<? extends T, ? extends X> action)
            throws X {
        return call(ParameterizedTypeReference.forType(type), action);
    }

    @Override
    @SuppressWarnings("NullAway") // A result is null only if an action of this type has returned null.
    public <T extends @Nullable Object> T call(
            ParameterizedTypeReference<@NonNull T> type, Action<? extends T, ? extends X> action) throws X {
        store.run();
        return executions.execute(new ClaimSpec(key, content, doubt), type, action);
    }

    @Override
    @SuppressWarnings("NullAway") // Void has no other value.
    public void run(VoidAction<? extends X> action) throws X {
        call(NOTHING, claim -> {
            action.run(claim);
            return null;
        });
    }
}
