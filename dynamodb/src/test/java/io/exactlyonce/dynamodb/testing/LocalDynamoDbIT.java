package io.exactlyonce.dynamodb.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The requests that the server of tests, benchmarks and the lab accepts. */
class LocalDynamoDbIT {

    private static final String LIST_TABLES = "{}";

    private final int port = LocalDynamoDb.shared().endpoint().getPort();

    /** A server can be reached at another address of this machine only if it listens on all addresses. */
    @Test
    void serverListensOnLoopbackOnly() {
        assertThatThrownBy(() -> new Socket("127.0.0.2", port).close()).isInstanceOf(ConnectException.class);
    }

    @Test
    void requestOfAProgramIsAnswered() throws IOException {
        assertThat(post("127.0.0.1:" + port, "")).startsWith("HTTP/1.1 200").contains("TableNames");
    }

    /**
     * A browser sends the name of the page's site, or the name by which the page has reached this machine (DNS
     * rebinding).
     */
    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, Origin: https://attacker.example",
        "127.0.0.1, Origin: null",
        "attacker.example, Accept: */*",
        "attacker.example, Origin: http://attacker.example",
    })
    void requestOfAWebPageIsRefused(String host, String header) throws IOException {
        assertThat(post(host + ":" + port, header + "\r\n"))
                .startsWith("HTTP/1.1 403")
                .doesNotContain("TableNames", "Access-Control-Allow");
    }

    private String post(String host, String header) throws IOException {
        String request = "POST / HTTP/1.1\r\nHost: " + host + "\r\n" + header
                + "X-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Type: application/x-amz-json-1.0\r\n"
                + "Authorization: AWS4-HMAC-SHA256 Credential=test/20260101/eu-west-1/dynamodb/aws4_request,"
                + " SignedHeaders=host, Signature=x\r\nConnection: close\r\nContent-Length: " + LIST_TABLES.length()
                + "\r\n\r\n" + LIST_TABLES;
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
