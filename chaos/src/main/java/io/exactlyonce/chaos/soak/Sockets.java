package io.exactlyonce.chaos.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** This process's TCP sockets, in any state, as Linux reports them. Other systems report nothing. */
final class Sockets {

    private static final Path PROCESS = Path.of("/proc/self");
    private static final List<String> TABLES = List.of("net/tcp", "net/tcp6");
    private static final String SOCKET = "socket:[";
    private static final int REMOTE = 2;
    private static final int INODE = 9;
    private static final int HEXADECIMAL = 16;

    private Sockets() {}

    /**
     * Counts sockets by remote port, and assigns each port to its gauge. Empty if the system does not report sockets.
     */
    static Map<Gauge, Long> count(Map<Integer, Gauge> servers) {
        if (!Files.isDirectory(PROCESS.resolve("fd"))) {
            return Map.of();
        }
        Map<Gauge, Long> counts = new EnumMap<>(Gauge.class);
        servers.values().forEach(gauge -> counts.put(gauge, 0L));
        counts.put(Gauge.OTHER_CONNECTIONS, 0L);
        Set<String> own = inodes();
        for (String table : TABLES) {
            lines(PROCESS.resolve(table)).stream()
                    .skip(1)
                    .map(line -> line.trim().split("\\s+", -1))
                    .filter(columns -> own.contains(columns[INODE]))
                    .forEach(columns -> counts.merge(
                            servers.getOrDefault(port(columns[REMOTE]), Gauge.OTHER_CONNECTIONS), 1L, Long::sum));
        }
        return counts;
    }

    private static int port(String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1), HEXADECIMAL);
    }

    private static Set<String> inodes() {
        Set<String> inodes = new HashSet<>();
        try (Stream<Path> descriptors = Files.list(PROCESS.resolve("fd"))) {
            descriptors
                    .map(Sockets::target)
                    .filter(target -> target.startsWith(SOCKET))
                    .forEach(target -> inodes.add(target.substring(SOCKET.length(), target.length() - 1)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return inodes;
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException closed) {
            return "";
        }
    }

    private static List<String> lines(Path table) {
        try {
            return Files.exists(table) ? Files.readAllLines(table) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
