package io.exactlyonce.chaos.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Faults of the proxy, in front of a server that returns each byte. */
class TcpProxyTests {

    private static final int PATIENCE_MILLIS = 5_000;
    private static final int SILENCE_MILLIS = 200;

    private ServerSocket server;
    private TcpProxy wire;
    private volatile int received = -1;

    @BeforeEach
    void start() throws IOException {
        server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        wire = TcpProxy.start("wire", server::getLocalPort);
        Thread thread = new Thread(this::echo);
        thread.setDaemon(true);
        thread.start();
    }

    @AfterEach
    void stop() throws IOException {
        wire.close();
        server.close();
    }

    @Test
    void openWirePassesBothWays() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, 7)).isEqualTo(7);
        }
    }

    @Test
    void blackHolePassesNothingAndEverythingLater() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, 7)).isEqualTo(7);
            wire.set(Traffic.of(Traffic.Kind.BLACK_HOLE));
            client.setSoTimeout(SILENCE_MILLIS);
            assertThatThrownBy(() -> ask(client, 8)).isInstanceOf(SocketTimeoutException.class);
            assertThat(received).isEqualTo(7);

            wire.set(Traffic.open());
            client.setSoTimeout(PATIENCE_MILLIS);
            assertThat(client.getInputStream().read()).isEqualTo(8);
        }
    }

    @Test
    void lostRepliesLetTheServerAct() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, 7)).isEqualTo(7);
            wire.set(Traffic.of(Traffic.Kind.REPLIES_LOST));
            client.setSoTimeout(SILENCE_MILLIS);
            assertThatThrownBy(() -> ask(client, 8)).isInstanceOf(SocketTimeoutException.class);
            assertThat(received).isEqualTo(8);
        }
    }

    @Test
    void cutWireBreaksWhatIsOpenAndRefusesWhatIsNew() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, 7)).isEqualTo(7);
            wire.set(Traffic.of(Traffic.Kind.CUT));
            assertThat(isBroken(client)).isTrue();
        }
        try (Socket client = connect()) {
            assertThat(isBroken(client)).isTrue();
        }
    }

    private static boolean isBroken(Socket client) {
        try {
            return ask(client, 8) == -1;
        } catch (IOException broken) {
            return true;
        }
    }

    private Socket connect() throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), wire.port());
        client.setSoTimeout(PATIENCE_MILLIS);
        return client;
    }

    private static int ask(Socket client, int number) throws IOException {
        client.getOutputStream().write(number);
        return client.getInputStream().read();
    }

    private void echo() {
        while (!server.isClosed()) {
            try (Socket connection = server.accept()) {
                for (int next = connection.getInputStream().read();
                        next >= 0;
                        next = connection.getInputStream().read()) {
                    received = next;
                    connection.getOutputStream().write(next);
                }
            } catch (IOException closed) {
                // The next one, if any.
            }
        }
    }
}
