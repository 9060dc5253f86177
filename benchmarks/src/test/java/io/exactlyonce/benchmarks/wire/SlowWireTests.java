package io.exactlyonce.benchmarks.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Delays of the wire, in front of a server that answers each request with its length. */
class SlowWireTests {

    private static final int PATIENCE_MILLIS = 10_000;
    private static final Duration LENGTH = Duration.ofMillis(5);

    private ServerSocket server;
    private SlowWire wire;

    @BeforeEach
    void start() throws IOException {
        server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        wire = new SlowWire(server.getLocalPort());
        Thread thread = new Thread(this::serve);
        thread.setDaemon(true);
        thread.start();
    }

    @AfterEach
    void stop() throws IOException {
        wire.close();
        server.close();
    }

    @Test
    void eachRequestIsHeldUpOnce() throws IOException {
        wire.delay().set(LENGTH);
        try (Socket client = connect()) {
            long before = System.nanoTime();
            for (int i = 0; i < 10; i++) {
                assertThat(ask(client, 10)).isEqualTo(10);
            }

            assertThat(System.nanoTime() - before)
                    .isGreaterThan(LENGTH.multipliedBy(9).toNanos());
            assertThat(wire.delay().given().count()).isEqualTo(10);
        }
    }

    @Test
    void requestInManyPiecesIsHeldUpOnce() throws IOException {
        wire.delay().set(LENGTH);
        try (Socket client = connect()) {
            assertThat(ask(client, 3_000_000)).isEqualTo(3_000_000);

            assertThat(wire.delay().given().count()).isEqualTo(1);
        }
    }

    @Test
    void nothingIsHeldUpBeforeADelayIsSet() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, 10)).isEqualTo(10);

            assertThat(wire.delay().given().count()).isZero();
        }
    }

    @Test
    void connectionThatTheServerEndsEndsAtTheClient() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, -1)).isEqualTo(-1);

            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
    }

    private Socket connect() throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), wire.port());
        client.setSoTimeout(PATIENCE_MILLIS);
        return client;
    }

    private static int ask(Socket client, int length) throws IOException {
        DataOutputStream out = new DataOutputStream(client.getOutputStream());
        out.writeInt(length);
        out.write(new byte[Math.max(0, length)]);
        return new DataInputStream(client.getInputStream()).readInt();
    }

    /** A negative length ends the sequence. */
    private void serve() {
        try (Socket connection = server.accept()) {
            DataInputStream in = new DataInputStream(connection.getInputStream());
            DataOutputStream out = new DataOutputStream(connection.getOutputStream());
            int length;
            do {
                length = in.readInt();
                in.readNBytes(Math.max(0, length));
                out.writeInt(length);
            } while (length >= 0);
        } catch (IOException ended) {
            // The client has gone.
        }
    }
}
