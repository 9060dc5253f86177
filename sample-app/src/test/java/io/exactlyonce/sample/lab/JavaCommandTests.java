package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class JavaCommandTests {

    private static final Path TEMPORARY = Path.of("scratch");

    @Test
    void oneJarIsStartedByItsManifest() {
        assertThat(command("target/incident-lab.jar")).endsWith("-jar", "target/incident-lab.jar", "worker");
    }

    @Test
    void classPathIsStartedByItsMainClass() {
        String classPath = "target/classes" + File.pathSeparator + "lib/a.jar";
        assertThat(command(classPath)).endsWith("-cp", classPath, "x.Main", "worker");
    }

    @Test
    void sameJavaIsUsedWithItsOwnTemporaryDirectory() {
        assertThat(command("a.jar"))
                .startsWith(Path.of("/jdk", "bin", "java").toString())
                .contains("-Djava.io.tmpdir=scratch");
    }

    private static List<String> command(String classPath) {
        return JavaCommand.of("/jdk", classPath, "x.Main").with(TEMPORARY, List.of("worker"));
    }
}
