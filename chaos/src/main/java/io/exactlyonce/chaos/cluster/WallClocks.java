package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;

/**
 * Wall clocks of single processes, which can be stepped. A preloaded library, made from a page of C, changes the time
 * of a process. This needs Linux and a C compiler; without them, all processes have the machine's clock.
 */
public final class WallClocks {

    private static final String SOURCE = "/wall-clock.c";

    private final Path directory;
    private final Path library;
    private final boolean there;

    /** Compiles the library into a directory. */
    public WallClocks(Path directory) throws IOException, InterruptedException {
        this.directory = directory;
        this.library = directory.resolve("wall-clock.so");
        this.there = "Linux".equals(System.getProperty("os.name")) && compile();
    }

    /** Returns whether clocks can be stepped. */
    public boolean areThere() {
        return there;
    }

    /** Returns the environment variables with which a process has the clock of that name. */
    public Map<String, String> environment(String clock) throws IOException {
        if (!there) {
            return Map.of();
        }
        step(clock, Duration.ZERO);
        return Map.of(
                "LD_PRELOAD", library.toString(), "CHAOS_CLOCK", file(clock).toString());
    }

    /** Sets a clock's difference from the machine's clock. */
    public void step(String clock, Duration step) throws IOException {
        byte[] nanos = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(step.toNanos())
                .array();
        // The file is overwritten and never replaced, because the process has mapped it.
        try (var file = Files.newByteChannel(file(clock), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(nanos));
        }
    }

    private Path file(String clock) {
        return directory.resolve("clock-" + clock);
    }

    private boolean compile() throws IOException, InterruptedException {
        Path source = directory.resolve("wall-clock.c");
        try (InputStream in = WallClocks.class.getResourceAsStream(SOURCE)) {
            Files.write(source, in == null ? new byte[0] : in.readAllBytes());
            return new ProcessBuilder(
                                    "cc",
                                    "-shared",
                                    "-fPIC",
                                    "-O2",
                                    "-o",
                                    library.toString(),
                                    source.toString(),
                                    "-ldl")
                            .redirectErrorStream(true)
                            .redirectOutput(directory.resolve("cc.log").toFile())
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
