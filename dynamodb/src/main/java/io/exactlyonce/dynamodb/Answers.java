package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimStoreUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Waits for answers on the thread that asks. */
final class Answers {

    private Answers() {}

    /**
     * Returns the answer.
     *
     * @throws ClaimStoreUnavailableException if the service gave none
     */
    static <T> T await(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException failed) {
            throw failure(failed.getCause() == null ? failed : failed.getCause());
        }
    }

    /** As {@link io.exactlyonce.claim.ClaimStore} tells failures. */
    private static RuntimeException failure(Throwable cause) {
        if (cause.getClass().getName().startsWith("io.exactlyonce.") && cause instanceof RuntimeException told) {
            return told;
        }
        if (cause instanceof IllegalArgumentException unstorable) {
            return unstorable;
        }
        return new ClaimStoreUnavailableException("DynamoDB did not answer: " + cause.getMessage(), cause);
    }
}
