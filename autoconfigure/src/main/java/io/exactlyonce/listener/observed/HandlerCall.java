package io.exactlyonce.listener.observed;

import io.awspring.cloud.sqs.listener.AsyncAdapterBlockingExecutionFailedException;
import io.awspring.cloud.sqs.listener.ListenerExecutionFailedException;
import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.listener.message.FailureOutline;
import io.exactlyonce.sighting.Observation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A handler that was called with messages: one, or those of a batch.
 *
 * @param observations of each message, in their order
 * @param tellsItsEnd whether a handler that returns has done its work
 */
record HandlerCall(List<Observation> observations, boolean tellsItsEnd) {

    /** Of a batch, a handler may name what has failed: the others' effects have happened, though awspring redelivers all. */
    void ended(@Nullable Throwable failure) {
        if (failure == null && !tellsItsEnd) {
            observations.forEach(observation -> observation.ended(unknownEnd()));
            return;
        }
        Map<Integer, Throwable> named = named(failure);
        for (int index = 0; index < observations.size(); index++) {
            observations.get(index).ended(named.isEmpty() ? failure : named.get(index));
        }
    }

    /** Whether the work is done is not known: the key must not be taken for completed. */
    private static Throwable unknownEnd() {
        return new IllegalStateException("The handler returned, and its work may be undone");
    }

    /**
     * Names what failed as the engine would: a batch whose handler wraps the names in an exception of its own has failed whole, for
     * a transaction may have undone the effects of all of it.
     */
    private Map<Integer, Throwable> named(@Nullable Throwable failure) {
        Throwable thrown = FailureOutline.causes(failure)
                .dropWhile(HandlerCall::isWrapper)
                .findFirst()
                .orElse(null);
        Map<Integer, Throwable> failures = thrown instanceof BatchItemFailures items ? items.failures() : Map.of();
        return failures.keySet().stream().allMatch(index -> index < observations.size()) ? failures : Map.of();
    }

    /** What awspring, a future or a proxy makes of a handler's exception. */
    private static boolean isWrapper(Throwable thrown) {
        return thrown instanceof ListenerExecutionFailedException
                || thrown instanceof AsyncAdapterBlockingExecutionFailedException
                || thrown instanceof CompletionException
                || thrown instanceof ExecutionException
                || thrown instanceof UndeclaredThrowableException
                || thrown instanceof InvocationTargetException;
    }
}
