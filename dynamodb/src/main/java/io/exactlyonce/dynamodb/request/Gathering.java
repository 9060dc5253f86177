package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ItemWrite;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

/** Keeps what is sent back, until all of it is sent together; what comes after that goes at once. */
final class Gathering implements WriteRequests {

    private final WriteRequests requests;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<ItemWrite> gathered = new ArrayList<>();
    private final CompletableFuture<List<WriteAnswer>> answers = new CompletableFuture<>();
    private boolean over;

    /** @param requests what sends */
    Gathering(WriteRequests requests) {
        this.requests = requests;
    }

    @Override
    public CompletableFuture<List<WriteAnswer>> send(List<ItemWrite> writes) {
        lock.lock();
        try {
            if (!over) {
                int from = gathered.size();
                int to = from + writes.size();
                gathered.addAll(writes);
                return answers.thenApply(all -> all.subList(from, to));
            }
        } finally {
            lock.unlock();
        }
        return requests.send(writes);
    }

    /** Sends what has been kept back, and keeps nothing back any more. */
    void sendAll() {
        lock.lock();
        try {
            over = true;
        } finally {
            lock.unlock();
        }
        if (!gathered.isEmpty()) {
            CompletableFuture<Boolean> unused =
                    requests.send(List.copyOf(gathered)).thenApply(answers::complete);
        }
    }
}
