package io.exactlyonce.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisabledOnOs(OS.WINDOWS)
class PrivateFolderTests {

    @TempDir
    private Path directory;

    private Path wanted;

    @BeforeEach
    void name() {
        wanted = directory.resolve("cache").resolve("servers");
    }

    @Test
    void folderAndItsSecretsAreOfTheirOwnerOnly() throws IOException {
        PrivateFolder folder = PrivateFolder.at(wanted);

        assertThat(permissions(folder.path())).isEqualTo("rwx------");
        assertThat(permissions(folder.file("password", () -> "text"))).isEqualTo("rw-------");
    }

    @Test
    void secretIsTheSameForEachJvmAndAnotherForEachNameAndFolder() {
        String secret = PrivateFolder.at(wanted).secret("password");

        assertThat(secret).matches("[0-9a-f]{32}");
        assertThat(PrivateFolder.at(wanted).secret("password")).isEqualTo(secret);
        assertThat(PrivateFolder.at(wanted).secret("path")).isNotEqualTo(secret);
        assertThat(PrivateFolder.at(directory.resolve("other")).secret("password"))
                .isNotEqualTo(secret);
    }

    @Test
    void secretThatCannotBeMadeLeavesNoFile() throws IOException {
        PrivateFolder folder = PrivateFolder.at(wanted);

        assertThatIllegalStateException()
                .isThrownBy(() -> folder.file("password", () -> {
                    throw new IllegalStateException("no random numbers");
                }))
                .withMessage("no random numbers");

        try (Stream<Path> files = Files.list(folder.path())) {
            assertThat(files).containsExactly(folder.path().resolve("lock"));
        }
        assertThat(folder.secret("password")).matches("[0-9a-f]{32}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwxrwxrwx", "rwxr-xr-x", "rwx-----x", "rwx--x---"})
    void folderThatOthersCanEnterIsRefused(String permissions) throws IOException {
        Files.createDirectories(wanted);
        Files.setPosixFilePermissions(wanted, PosixFilePermissions.fromString(permissions));

        assertRefused(wanted + " has the permissions " + permissions + ", and not rwx------");
    }

    @Test
    void symbolicLinkIsRefusedAlthoughItLeadsToAPrivateFolder() throws IOException {
        Path target = PrivateFolder.at(directory.resolve("target")).path();
        Files.createDirectories(wanted.getParent());
        Files.createSymbolicLink(wanted, target);

        assertRefused(wanted + " is not a folder, but a file or a symbolic link");
    }

    @Test
    void fileIsRefused() throws IOException {
        Files.createDirectories(wanted.getParent());
        Files.createFile(wanted);

        assertRefused(wanted + " is not a folder");
    }

    /** The test reads the folder's permissions, because root can enter the folder in any case. */
    @Test
    @EnabledIf("isRoot")
    void folderOfAnotherUserIsRefused() throws IOException {
        PrivateFolder.at(wanted);
        Files.setOwner(
                wanted, FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));

        assertRefused(wanted + " belongs to user nobody");
    }

    @Test
    void folderThatAnotherUserCanReplaceIsRefused() throws IOException {
        Files.createDirectories(wanted.getParent());
        Files.setPosixFilePermissions(wanted.getParent(), PosixFilePermissions.fromString("rwxrwxrwx"));

        assertRefused(wanted + " can be replaced by any user, who may write to " + wanted.getParent());
    }

    @Test
    void folderInAStickyFolderIsUsed() throws IOException {
        Files.createDirectories(wanted.getParent());
        Files.setAttribute(wanted.getParent(), "unix:mode", 01777);

        assertThat(PrivateFolder.at(wanted).path()).isEqualTo(wanted);
    }

    static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    private void assertRefused(String reason) {
        assertThatIllegalStateException()
                .isThrownBy(() -> PrivateFolder.at(wanted))
                .withMessageContaining(reason)
                .withMessageContaining("another user could have put programs there")
                .withMessageEndingWith("Delete it, or name another folder with -Dot.epg.working-dir=...");
    }

    private static String permissions(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
