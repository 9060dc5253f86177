package io.exactlyonce.guarantees;

import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.ClassUtils;

/** The texts that the compiled classes of published modules log and throw. */
final class PublishedCode extends ClassVisitor {

    private static final String BASE = "io/exactlyonce/";
    private static final Pattern TESTS = Pattern.compile("-tests\\.jar!|/test-classes/");
    private static final String LOGGER = "org/slf4j/Logger";

    /** A placeholder for a text that the program computes and a table cannot list. */
    static final String UNKNOWN = "(not a constant)";

    private final Set<String> messages = new TreeSet<>();
    private final Map<String, String> superclasses = new TreeMap<>();
    private final Set<String> publicClasses = new TreeSet<>();

    private PublishedCode() {
        super(SpringAsmInfo.ASM_VERSION);
    }

    static PublishedCode read() throws IOException {
        PublishedCode code = new PublishedCode();
        for (Resource type :
                new PathMatchingResourcePatternResolver().getResources("classpath*:" + BASE + "**/*.class")) {
            if (TESTS.matcher(type.getURL().getPath()).find()) {
                continue;
            }
            try (InputStream content = type.getInputStream()) {
                new ClassReader(content).accept(code, ClassReader.SKIP_FRAMES);
            }
        }
        return code;
    }

    /** Returns each text that is logged at WARN or ERROR. The level stands in front of the text. */
    Set<String> messages() {
        return messages;
    }

    /** Returns the simple names of public exceptions, and of all subtypes of a type. */
    Set<String> exceptions(Class<?> setup) throws ClassNotFoundException {
        Set<String> names = new TreeSet<>();
        for (String type : superclasses.keySet()) {
            if (extendsType(type, setup) || (publicClasses.contains(type) && extendsType(type, Throwable.class))) {
                names.add(ClassUtils.getShortName(type.replace('/', '.')).replaceAll(".*\\.", ""));
            }
        }
        return names;
    }

    private boolean extendsType(String type, Class<?> wanted) throws ClassNotFoundException {
        String superclass = superclasses.get(type);
        if (type.replace('/', '.').equals(wanted.getName())) {
            return true;
        }
        return superclass == null
                ? wanted.isAssignableFrom(ClassUtils.forName(type.replace('/', '.'), null))
                : extendsType(superclass, wanted);
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        if (superName != null) {
            superclasses.put(name, superName);
            if ((access & Opcodes.ACC_PUBLIC) != 0) {
                publicClasses.add(name);
            }
        }
    }

    @Override
    public MethodVisitor visitMethod(
            int access, String name, String descriptor, String signature, String[] exceptions) {
        return new Calls();
    }

    /** The code pushes a logger onto the stack, then its text, and then the arguments. */
    private final class Calls extends MethodVisitor {

        private boolean loggerIsLast;
        private String text = UNKNOWN;

        private Calls() {
            super(SpringAsmInfo.ASM_VERSION);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            loggerIsLast = descriptor.equals("L" + LOGGER + ";");
        }

        @Override
        public void visitLdcInsn(Object value) {
            if (loggerIsLast && value instanceof String constant) {
                text = constant.replace('\n', ' ').strip();
            }
            loggerIsLast = false;
        }

        @Override
        public void visitVarInsn(int opcode, int index) {
            loggerIsLast = false;
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            loggerIsLast = false;
            if (owner.equals(LOGGER) && descriptor.endsWith(")V")) {
                if (name.equals("warn") || name.equals("error")) {
                    messages.add(name.toUpperCase(Locale.ROOT) + " " + text);
                }
                text = UNKNOWN;
            }
        }
    }
}
