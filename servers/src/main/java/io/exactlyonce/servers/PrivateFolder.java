package io.exactlyonce.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The folder with the programs and secrets of all servers of one user. No other user can enter the folder, or can have
 * prepared it. If files have no POSIX permissions, the permissions of the parent folder decide.
 */
final class PrivateFolder {

    private static final String NAME = "exactly-once-servers";
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");
    private static final int STICKY = 01000;
    private static final int SECRET_BYTES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path path;

    private PrivateFolder(Path path) {
        this.path = path;
    }

    /** Returns the folder of the user of this JVM. */
    static PrivateFolder ofThisUser() {
        return Holder.FOLDER;
    }

    /**
     * Creates the folder, or uses an existing folder.
     *
     * @throws IllegalStateException if another user can enter or replace the folder
     */
    static PrivateFolder at(Path wanted) {
        try {
            Path parent =
                    Files.createDirectories(wanted.toAbsolutePath().getParent()).toRealPath();
            Path path = parent.resolve(wanted.getFileName());
            boolean hasPermissions = Files.getFileStore(parent).supportsFileAttributeView("posix");
            create(path, hasPermissions);
            if (hasPermissions) {
                requirePrivate(path);
                requireInPlace(parent, path);
            }
            return new PrivateFolder(path);
        } catch (IOException failure) {
            throw new UncheckedIOException(
                    "%s cannot be the folder of PostgreSQL's programs. %s".formatted(wanted, remedy()), failure);
        }
    }

    private static void create(Path path, boolean hasPermissions) throws IOException {
        FileAttribute<?>[] attributes = hasPermissions
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(OWNER_ONLY)}
                : new FileAttribute<?>[0];
        try {
            Files.createDirectory(path, attributes);
        } catch (FileAlreadyExistsException found) {
            // The folder exists: another JVM of this user, or another user, made it. The following checks look at its
            // permissions and owner.
        }
    }

    private static void requirePrivate(Path path) throws IOException {
        PosixFileAttributes found = Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!found.isDirectory()) {
            throw refused(path, "is not a folder, but a file or a symbolic link");
        }
        if (!OWNER_ONLY.equals(found.permissions())) {
            throw refused(
                    path,
                    "has the permissions %s, and not rwx------"
                            .formatted(PosixFilePermissions.toString(found.permissions())));
        }
        Path own = Files.createTempFile(path, "owner", "");
        try {
            if (!Files.getOwner(own).equals(found.owner())) {
                throw refused(path, "belongs to user " + found.owner().getName());
            }
        } finally {
            Files.delete(own);
        }
    }

    /**
     * Requires that no other user can replace the folder. A user who may write to a parent folder can replace it,
     * unless that parent is sticky, as /tmp is.
     */
    private static void requireInPlace(Path parent, Path path) throws IOException {
        for (Path above = parent; above != null; above = above.getParent()) {
            boolean isOpen = Files.getPosixFilePermissions(above).contains(PosixFilePermission.OTHERS_WRITE);
            if (isOpen && ((int) Files.getAttribute(above, "unix:mode") & STICKY) == 0) {
                throw refused(path, "can be replaced by any user, who may write to " + above);
            }
        }
    }

    private static IllegalStateException refused(Path path, String reason) {
        return new IllegalStateException(
                "%s %s, so that another user could have put programs there. %s".formatted(path, reason, remedy()));
    }

    private static String remedy() {
        return "Delete it, or name another folder with -D%s=...".formatted(LocalPostgres.WORKING_DIRECTORY);
    }

    Path path() {
        return path;
    }

    /** Returns a random value of 32 hexadecimal digits, which is the same in all JVMs of this user. */
    String secret(String name) {
        try {
            return Files.readString(file(name, () -> HexFormat.of().formatHex(random())));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Returns a file. The first JVM of this user that needs the file writes it. */
    synchronized Path file(String name, Supplier<String> contents) {
        Path file = path.resolve(name);
        if (Files.exists(file)) {
            return file;
        }
        try (FileChannel lock =
                        FileChannel.open(path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                var held = lock.lock()) {
            if (held.isValid() && Files.notExists(file)) {
                Path written = Files.createTempFile(path, name, "");
                try {
                    Files.writeString(written, contents.get());
                    Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
                } finally {
                    Files.deleteIfExists(written);
                }
            }
            return file;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static byte[] random() {
        byte[] random = new byte[SECRET_BYTES];
        RANDOM.nextBytes(random);
        return random;
    }

    private static Path wanted() {
        String chosen = System.getProperty(LocalPostgres.WORKING_DIRECTORY);
        if (chosen != null) {
            return Path.of(chosen, NAME);
        }
        Path home = Path.of(System.getProperty("user.home"));
        return Files.isWritable(home)
                ? home.resolve(".cache").resolve(NAME)
                : Path.of(System.getProperty("java.io.tmpdir"), NAME + "-" + System.getProperty("user.name"));
    }

    private static final class Holder {
        private static final PrivateFolder FOLDER = at(wanted());
    }
}
