package io.exactlyonce.benchmarks.process;

import io.exactlyonce.servers.LocalSqs;
import java.io.IOException;

/** Serves queues in memory, and reports its port. */
public final class SqsProcess {

    private SqsProcess() {}

    /** Serves until the benchmarks end. */
    public static void run() throws IOException {
        try (LocalSqs server = LocalSqs.start()) {
            Conversation.say(server.getEndpoint().getPort());
            Conversation.awaitEnd();
        }
    }
}
