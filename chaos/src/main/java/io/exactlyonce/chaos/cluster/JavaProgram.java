package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How to start one of this program's classes in another JVM. */
public final class JavaProgram {

    private final Path directory;
    private final String classPath;

    /**
     * Prepares it: directories of this JVM's class path are packed, since JVMs keep archives of classes from jars only.
     *
     * @param directory where jars, archives and the JVMs' temporary files go
     */
    public JavaProgram(Path directory) throws IOException {
        this.directory = directory;
        this.classPath = PackedClassPath.of(System.getProperty("java.class.path"), directory);
    }

    /** Returns the whole command, without a class archive. */
    public List<String> command(Class<?> main, String heap, List<String> arguments) {
        return command(main, heap, "-Xshare:auto", arguments);
    }

    /** Returns the command for one of many short-lived JVMs, which share an archive of classes once there is one. */
    public List<String> shared(Class<?> main, String heap, List<String> arguments) {
        return command(main, heap, "-XX:SharedArchiveFile=" + archive(main), arguments);
    }

    /** Returns the command for a JVM that leaves an archive of its classes when it ends. */
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
                // Workers are many and short-lived: no time is spent on the best machine code.
                "-XX:TieredStopAtLevel=1",
                sharing,
                "-Xlog:disable",
                "-Djava.io.tmpdir=" + directory,
                // Without a limit the JDK's client keeps as many connections as were ever in use at a time.
                // Their number then tells of the highest peak so far, and a leak looks the same.
                "-Djdk.httpclient.connectionPoolSize=4",
                "-cp",
                classPath,
                main.getName()));
        command.addAll(arguments);
        return command;
    }
}
