package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The requests that the lab's store of {@code --store=dynamodb} accepts. */
@Tag("ci")
class DynamoDbLocalIT {

    /** A server can be reached at another address of this machine only if it listens on all addresses. */
    @Test
    void serverListensOnLoopbackOnly() throws Exception {
        assumeThat(Path.of("..", "dynamodb-local", "target", "classpath")).exists();
        try (Workspace workspace = Workspace.create();
                DynamoDbLocal server = DynamoDbLocal.start(workspace)) {
            int port = URI.create(server.environment().get("SPRING_CLOUD_AWS_DYNAMODB_ENDPOINT"))
                    .getPort();

            new Socket(InetAddress.getLoopbackAddress(), port).close();
            assertThatThrownBy(() -> new Socket("127.0.0.2", port)).isInstanceOf(ConnectException.class);
        }
    }
}
