package io.exactlyonce.chaos.cluster;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/** A class path that contains only jars. */
final class PackedClassPath {

    private PackedClassPath() {}

    static String of(String classPath, Path directory) throws IOException {
        List<String> packed = new ArrayList<>();
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            Path path = Path.of(entry);
            packed.add(Files.isDirectory(path) ? pack(path, directory.resolve(packed.size() + ".jar")) : entry);
        }
        return String.join(File.pathSeparator, packed);
    }

    private static String pack(Path classes, Path jar) throws IOException {
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file);
                Stream<Path> files = Files.walk(classes)) {
            files.filter(path -> !path.equals(classes)).forEach(path -> add(out, classes, path));
        }
        return jar.toString();
    }

    /** Adds a directory of classes. Adds entries for directories, too, because Spring uses them to find classes. */
    private static void add(JarOutputStream out, Path classes, Path path) {
        String name = classes.relativize(path).toString().replace(File.separatorChar, '/');
        try {
            if (Files.isDirectory(path)) {
                out.putNextEntry(new JarEntry(name + "/"));
            } else {
                out.putNextEntry(new JarEntry(name));
                Files.copy(path, out);
            }
            out.closeEntry();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
