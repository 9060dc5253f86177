package io.exactlyonce.chaos.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Each gauge counts held resources, and does not count released ones. */
class ResourcesTests {

    /** Amounts of threads, descriptors and MiB that far exceed the changes by earlier tests and by the JVM itself. */
    private static final int HELD = 100;

    private static final long OTHERS = 20;
    private static final int KIB = 1 << 10;

    private static long of(Gauge gauge, Sample sample) {
        return sample.values().get(gauge);
    }

    @Test
    void heapIsWhatIsReachable() {
        long before = of(Gauge.HEAP_KIB, Resources.measure(Map.of()));
        List<byte[]> held = new ArrayList<>();
        for (int array = 0; array < 2 * HELD * KIB; array++) {
            byte[] bytes = new byte[KIB];
            if (array % 2 == 0) {
                held.add(bytes);
            }
        }
        long during = of(Gauge.HEAP_KIB, Resources.measure(Map.of()));
        Reference.reachabilityFence(held);
        held.clear();
        long after = of(Gauge.HEAP_KIB, Resources.measure(Map.of()));

        assertThat(during - before).isBetween((HELD - OTHERS) * KIB, (HELD + OTHERS) * KIB);
        assertThat(after - before).isLessThan(OTHERS * KIB);
    }

    /** Subtracts threads of earlier tests. Their pools end idle threads at any time, some of them a minute later. */
    @Test
    void threadsAreCounted() throws Exception {
        List<Thread> threads = new ArrayList<>();
        long before = threadsBesideOthersThan(threads);
        CountDownLatch end = new CountDownLatch(1);
        for (int number = 0; number < HELD; number++) {
            Thread thread = new Thread(() -> await(end));
            thread.start();
            threads.add(thread);
        }
        long during = threadsBesideOthersThan(threads);
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        long after = threadsBesideOthersThan(threads);

        assertThat(during - before).isBetween(HELD - OTHERS, HELD + OTHERS);
        assertThat(after - before).isBetween(-OTHERS, OTHERS);
    }

    /** Measures while no other thread starts or ends, and otherwise tries again. */
    private static long threadsBesideOthersThan(List<Thread> held) {
        for (int measured = 0; measured < HELD; measured++) {
            long others = othersThan(held);
            long threads = of(Gauge.THREADS, Resources.measure(Map.of()));
            if (othersThan(held) == others) {
                return threads - others;
            }
        }
        throw new AssertionError("Other threads come and go");
    }

    private static long othersThan(List<Thread> held) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !held.contains(thread))
                .count();
    }

    private static void await(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void connectionsAreCountedByTheirServers() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        Set<String> earlier = descriptors();
        try (ServerSocket server = new ServerSocket(0, HELD, InetAddress.getLoopbackAddress())) {
            Map<Integer, Gauge> servers = Map.of(server.getLocalPort(), Gauge.SQS_CONNECTIONS);
            Sample before = Resources.measure(servers);
            long descriptorsBefore = descriptorsBeside(earlier);
            for (int number = 0; number < HELD; number++) {
                sockets.add(new Socket(server.getInetAddress(), server.getLocalPort()));
            }
            Sample during = Resources.measure(servers);
            long descriptorsDuring = descriptorsBeside(earlier);
            for (Socket socket : sockets) {
                socket.close();
            }
            Sample after = Resources.measure(servers);

            assertThat(of(Gauge.SQS_CONNECTIONS, before)).isZero();
            assertThat(of(Gauge.SQS_CONNECTIONS, during)).isEqualTo(HELD);
            assertThat(of(Gauge.SQS_CONNECTIONS, after)).isZero();
            assertThat(descriptorsDuring - descriptorsBefore).isBetween(HELD - OTHERS, HELD + OTHERS);
        }
    }

    /**
     * Counts descriptors without those of earlier tests, which cleaners close some time after a collection. If one is
     * closed during the measurement, the measurement is repeated.
     */
    private static long descriptorsBeside(Set<String> earlier) throws IOException {
        for (int measured = 0; measured < HELD; measured++) {
            long left = left(earlier);
            long all = of(Gauge.DESCRIPTORS, Resources.measure(Map.of()));
            if (left(earlier) == left) {
                return all - left;
            }
        }
        throw new AssertionError("Descriptors come and go: " + descriptors());
    }

    private static long left(Set<String> earlier) throws IOException {
        Set<String> left = descriptors();
        left.retainAll(earlier);
        return left.size();
    }

    /** Returns each descriptor with its target. The target of a socket contains a unique number. */
    private static Set<String> descriptors() throws IOException {
        Set<String> descriptors = new HashSet<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path link : links) {
                try {
                    descriptors.add(link + " " + Files.readSymbolicLink(link));
                } catch (NoSuchFileException closed) {
                    // Between the listing and now.
                }
            }
        }
        return descriptors;
    }

    @Test
    void sampleIsReadAsItWasWritten() {
        Sample sample = Resources.measure(Map.of());

        assertThat(Sample.parse(sample.toString())).isEqualTo(sample);
    }
}
