package io.exactlyonce.chaos.queue;

import java.util.List;

/** Called before a worker's request to delete messages goes on to SQS. */
@FunctionalInterface
public interface Acknowledgements {

    /** A worker wants to delete messages of these keys; the request goes on when this returns. */
    void about(String worker, List<String> keys);
}
