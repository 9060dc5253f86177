package io.exactlyonce.queue;

import io.exactlyonce.queue.QueueVisibility.Change;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A queue that records requests, and gives the answers that a test scripts. The default is an immediate success. */
public final class ScriptedQueue implements QueueVisibility {

    private final List<List<Change>> requests = new ArrayList<>();
    private final Deque<Function<List<Change>, CompletableFuture<Answers>>> answers = new ArrayDeque<>();

    @Override
    public synchronized CompletableFuture<Answers> change(List<Change> changes) {
        requests.add(changes);
        return answers.isEmpty()
                ? CompletableFuture.completedFuture(all(changes, Result.CHANGED))
                : answers.remove().apply(changes);
    }

    public synchronized List<List<Change>> requests() {
        return List.copyOf(requests);
    }

    /** Returns the changes of all requests. */
    public synchronized List<Change> changes() {
        return requests.stream().flatMap(List::stream).toList();
    }

    /** Scripts the answers to the next requests: one result for each request. */
    public void answer(Result... results) {
        for (Result result : results) {
            answers.add(changes -> CompletableFuture.completedFuture(all(changes, result)));
        }
    }

    /** Makes the next request fail without an answer. */
    public void failOnce(RuntimeException failure) {
        answers.add(changes -> CompletableFuture.completedFuture(new Answers(Map.of(), failure)));
    }

    /** Makes the next request wait until the test calls {@code give} of the returned object. */
    public LateAnswer answerLater() {
        LateAnswer late = new LateAnswer();
        answers.add(changes -> {
            late.changes = changes;
            return late.future;
        });
        return late;
    }

    public static final class LateAnswer {

        private final CompletableFuture<Answers> future = new CompletableFuture<>();
        private List<Change> changes = List.of();

        public void give(Result result) {
            future.complete(all(changes, result));
        }
    }

    private static Answers all(List<Change> changes, Result result) {
        return new Answers(changes.stream().collect(Collectors.toMap(Change::receiptHandle, change -> result)));
    }
}
