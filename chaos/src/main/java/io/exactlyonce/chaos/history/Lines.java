package io.exactlyonce.chaos.history;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads and writes lines of text over a socket. */
final class Lines {

    private Lines() {}

    static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    static BufferedWriter writer(Socket socket) throws IOException {
        return new BufferedWriter(new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8));
    }

    /** Reads a complete line. Returns {@code null} at the end of the stream, even in the middle of a line. */
    static @Nullable String readWhole(BufferedReader reader) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = reader.read(); next != -1; next = reader.read()) {
            if (next == '\n') {
                return line.toString();
            }
            line.append((char) next);
        }
        return null;
    }
}
