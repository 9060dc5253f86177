package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Free ports. */
public final class Ports {

    private Ports() {}

    /** Returns a port on which no process listens now. */
    public static int free() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
