package io.exactlyonce.chaos.queue;

import java.util.List;

/** Called before a worker's request to delete messages goes on to SQS. */
@FunctionalInterface
public interface Acknowledgements {

    /**
     * Called for a worker that is about to delete messages of these keys. The request goes on when this method returns.
     */
    void about(String worker, List<String> keys);
}
