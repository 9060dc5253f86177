package io.exactlyonce.benchmarks.process;

import java.io.IOException;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;

/** Serves queues in memory, and says on which port. */
public final class SqsProcess {

    private SqsProcess() {}

    /** Serves until the benchmarks end. */
    public static void run() throws IOException {
        var server = SQSRestServerBuilder.withInterface("127.0.0.1")
                .withDynamicPort()
                .start();
        Conversation.say(server.waitUntilStarted().localAddress().getPort());
        Conversation.awaitEnd();
        server.stopAndWait();
    }
}
