package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Commands that start this program's classes in another JVM. */
public final class JavaProgram {

    private final Path directory;
    private final String classPath;

    /**
     * Prepares the commands. Directories of this JVM's class path are packed, because JVMs archive only classes from
     * jars.
     *
     * @param directory the directory for jars, archives and the JVMs' temporary files
     */
    public JavaProgram(Path directory) throws IOException {
        this.directory = directory;
        this.classPath = PackedClassPath.of(System.getProperty("java.class.path"), directory);
    }

    /** Returns a command without a class archive. */
    public List<String> command(Class<?> main, String heap, List<String> arguments) {
        return command(main, heap, "-Xshare:auto", arguments);
    }

    /** Returns the command for a short-lived JVM. Such JVMs share an archive of classes as soon as it exists. */
    public List<String> shared(Class<?> main, String heap, List<String> arguments) {
        return command(main, heap, "-XX:SharedArchiveFile=" + archive(main), arguments);
    }

    /** Returns the command for a JVM that writes an archive of its classes when it ends. */
    public List<String> archiving(Class<?> main, String heap, List<String> arguments) {
        return command(main, heap, "-XX:ArchiveClassesAtExit=" + archive(main), arguments);
    }

    private Path archive(Class<?> main) {
        return directory.resolve(main.getSimpleName() + ".jsa");
    }

    private List<String> command(Class<?> main, String heap, String sharing, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                heap,
                "-XX:+UseSerialGC",
                // Workers are many and run for a short time, so the JVM spends no time on the best machine code.
                "-XX:TieredStopAtLevel=1",
                sharing,
                "-Xlog:disable",
                "-Djava.io.tmpdir=" + directory,
                // Without a limit, the JDK's client keeps as many connections as were ever in use at the same time. The
                // number of connections would then grow with each new peak, like a leak.
                "-Djdk.httpclient.connectionPoolSize=4",
                "-cp",
                classPath,
                main.getName()));
        command.addAll(arguments);
        return command;
    }
}
