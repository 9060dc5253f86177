package io.exactlyonce.dynamodb.request;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Answers that come later. */
final class Futures {

    private Futures() {}

    /** Returns all answers, in order. */
    static <T> CompletableFuture<List<T>> all(List<CompletableFuture<T>> futures) {
        return CompletableFuture.allOf(futures.toArray(CompletableFuture<?>[]::new))
                .thenApply(done -> futures.stream().map(CompletableFuture::join).toList());
    }

    /** Returns what went wrong, without what futures wrap it into. */
    static Throwable cause(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }
}
