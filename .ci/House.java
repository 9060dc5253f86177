import com.sun.source.tree.AnnotatedTypeTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.ToolProvider;

/**
 * Prints how the code is laid out, and judges nothing: {@code java .ci/House.java [checkout]}.
 *
 * <p>Packages and classes are those of the main sources of core, postgres, observability and autoconfigure, without package-info files. A line of code is
 * neither blank, nor comment only, nor an import or the package line. Constructors are those that are written out. A
 * function is a type of java.util.function, a Runnable or a Callable. Persons are indefinite ones, such as "somebody".
 */
final class House {

    private static final Pattern INDEFINITE_PERSONS = Pattern.compile(
            "\\b(somebody|someone|nobody|anybody|anyone|everybody|everyone|whoever|others|in vain|all the same)\\b",
            Pattern.CASE_INSENSITIVE);
    private static final Pattern WORD = Pattern.compile("\\S*[A-Za-z]\\S*");
    private static final Pattern TELLS_WHETHER =
            Pattern.compile("\\btells whether\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern IMPORT = Pattern.compile("^(import|package) .*");

    /** One file. The comments are its text only, a line of comment each, without the signs around it. */
    private record Source(String packageName, String name, int code, List<String> comments, Shape shape) {}

    /** The shape of a class by its syntax tree. */
    private record Shape(
            List<Integer> constructors, List<Integer> headers, int functions, int types, int publicTypes) {}

    public static void main(String[] args) throws IOException {
        Path top = Path.of(args.length > 0 ? args[0] : ".");
        List<Source> engine = new ArrayList<>();
        List<Source> tests = new ArrayList<>(read(top.resolve("integration-tests/src/test")));
        for (String module : List.of("core", "postgres", "observability", "autoconfigure")) {
            engine.addAll(read(top.resolve(module + "/src/main/java")));
            tests.addAll(read(top.resolve(module + "/src/test")));
        }
        packages(engine);
        classes(engine);
        System.out.printf(
                "%nComments                       words  persons  per 1,000  tells whether  lines per line of code%n");
        comments("engine main", engine);
        comments("engine tests", tests);
        for (String module : List.of("test", "chaos", "benchmarks", "sample-app", "guarantees")) {
            comments(module, read(top.resolve(module).resolve("src")));
        }
    }

    private static void packages(List<Source> sources) {
        Map<String, List<Source>> rooms =
                sources.stream().collect(Collectors.groupingBy(Source::packageName, TreeMap::new, Collectors.toList()));
        System.out.println("Package                                                  files   code");
        rooms.forEach((name, files) ->
                System.out.printf("%-55s %6d %6d%n", name, files.size(), sum(files, Source::code)));
        List<Integer> sizes = rooms.values().stream().map(List::size).sorted().toList();
        System.out.printf(
                "%d packages; files in the largest: %d, in the median one: %.1f%n",
                rooms.size(), sizes.get(sizes.size() - 1), median(sizes));
    }

    private static void classes(List<Source> sources) {
        List<Integer> lines = sources.stream().map(Source::code).sorted().toList();
        List<Integer> written = sources.stream()
                .flatMap(source -> source.shape().constructors().stream())
                .sorted()
                .toList();
        List<Integer> headers = sources.stream()
                .flatMap(source -> source.shape().headers().stream())
                .sorted()
                .toList();
        int types = sum(sources, source -> source.shape().types());
        int publicTypes = sum(sources, source -> source.shape().publicTypes());
        System.out.printf("%nClasses (files)                          %6d%n", sources.size());
        System.out.printf("Lines of code                            %6d%n", sum(sources, Source::code));
        System.out.printf("  per class: median / p90 / max              %s%n", spread(lines));
        largest(sources, Source::code).limit(5).forEach(System.out::println);
        System.out.printf(
                "Public top-level types                   %6d of %d (%.0f %%)%n",
                publicTypes, types, 100.0 * publicTypes / types);
        System.out.printf("Parameters: median / p90 / max%n");
        System.out.printf("  of %4d constructors                       %s%n", written.size(), spread(written));
        System.out.printf("  of %4d headers of records                 %s%n", headers.size(), spread(headers));
        ToIntFunction<Source> functions = source -> source.shape().functions();
        System.out.printf("  functions among them                   %6d%n", sum(sources, functions));
        largest(sources, functions).forEach(System.out::println);
    }

    /** Returns the sources with more than none of something, the largest first. */
    private static Stream<String> largest(List<Source> sources, ToIntFunction<Source> size) {
        return sources.stream()
                .filter(source -> size.applyAsInt(source) > 0)
                .sorted(Comparator.comparingInt(size).reversed())
                .map(source -> "  %6d %s.%s".formatted(size.applyAsInt(source), source.packageName(), source.name()));
    }

    private static void comments(String part, List<Source> sources) {
        int lines = sum(sources, source -> source.comments().size());
        String text = sources.stream().flatMap(source -> source.comments().stream()).collect(Collectors.joining(" "));
        long words = WORD.matcher(text).results().count();
        long persons = INDEFINITE_PERSONS.matcher(text).results().count();
        long tells = TELLS_WHETHER.matcher(text).results().count();
        System.out.printf(
                "%-27s %8d %8d %10.1f %14d %23.2f%n",
                part,
                words,
                persons,
                1_000.0 * persons / Math.max(1, words),
                tells,
                1.0 * lines / Math.max(1, sum(sources, Source::code)));
    }

    private static List<Source> read(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        List<Path> files;
        try (Stream<Path> walk = Files.walk(directory)) {
            files = walk.filter(file -> file.toString().endsWith(".java") && !file.endsWith("package-info.java"))
                    .sorted()
                    .toList();
        }
        var compiler = ToolProvider.getSystemJavaCompiler();
        var manager = compiler.getStandardFileManager(null, null, null);
        var task = (JavacTask) compiler.getTask(
                null, manager, problem -> {}, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
        List<Source> sources = new ArrayList<>();
        for (CompilationUnitTree unit : task.parse()) {
            Path file = Path.of(unit.getSourceFile().toUri());
            List<String> comments = new ArrayList<>();
            String code = withoutComments(Files.readString(file), comments);
            int lines = (int) code.lines()
                    .filter(line -> !line.isBlank() && !IMPORT.matcher(line).matches())
                    .count();
            String name = file.getFileName().toString().replace(".java", "");
            sources.add(new Source(String.valueOf(unit.getPackageName()), name, lines, comments, shape(unit)));
        }
        return sources;
    }

    private static Shape shape(CompilationUnitTree unit) {
        List<String> functions = unit.getImports().stream()
                .map(one -> one.getQualifiedIdentifier().toString())
                .filter(name -> name.startsWith("java.util.function.") || name.equals("java.util.concurrent.Callable"))
                .map(name -> name.substring(name.lastIndexOf('.') + 1))
                .collect(Collectors.toCollection(ArrayList::new));
        functions.add("Runnable");
        List<List<? extends VariableTree>> constructors = new ArrayList<>();
        List<List<? extends VariableTree>> headers = new ArrayList<>();
        new TreeScanner<Void, Void>() {
            @Override
            public Void visitClass(ClassTree type, Void nothing) {
                boolean isRecord = type.getKind() == Tree.Kind.RECORD;
                if (isRecord) {
                    headers.add(members(type, VariableTree.class)
                            .filter(field -> !field.getModifiers().getFlags().contains(Modifier.STATIC))
                            .toList());
                }
                members(type, MethodTree.class)
                        .filter(method -> method.getName().contentEquals("<init>"))
                        .map(MethodTree::getParameters)
                        // A compact constructor has its record's header.
                        .filter(parameters -> !isRecord || !parameters.isEmpty())
                        .forEach(constructors::add);
                return super.visitClass(type, nothing);
            }
        }.scan(unit, null);
        List<ClassTree> types = unit.getTypeDecls().stream()
                .filter(ClassTree.class::isInstance)
                .map(ClassTree.class::cast)
                .toList();
        int publicTypes = sum(types, type -> type.getModifiers().getFlags().contains(Modifier.PUBLIC) ? 1 : 0);
        int functionTyped = sum(
                Stream.concat(constructors.stream(), headers.stream()).flatMap(List::stream).toList(),
                parameter -> functions.contains(simpleName(parameter.getType())) ? 1 : 0);
        return new Shape(sizes(constructors), sizes(headers), functionTyped, types.size(), publicTypes);
    }

    private static <T> Stream<T> members(ClassTree type, Class<T> kind) {
        return type.getMembers().stream().filter(kind::isInstance).map(kind::cast);
    }

    private static List<Integer> sizes(List<? extends List<?>> lists) {
        return lists.stream().<Integer>map(List::size).toList();
    }

    private static String simpleName(Tree type) {
        if (type instanceof AnnotatedTypeTree annotated) {
            return simpleName(annotated.getUnderlyingType());
        }
        if (type instanceof ParameterizedTypeTree generic) {
            return simpleName(generic.getType());
        }
        String name = String.valueOf(type);
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** Returns the code alone, with its line breaks, and collects the lines of its comments. */
    private static String withoutComments(String source, List<String> comments) {
        StringBuilder code = new StringBuilder();
        int at = 0;
        while (at < source.length()) {
            int end;
            if (source.startsWith("//", at) || source.startsWith("/*", at)) {
                boolean line = source.startsWith("//", at);
                end = line ? source.indexOf('\n', at) : source.indexOf("*/", at + 2) + 2;
                source.substring(at + 2, line ? end : end - 2).lines()
                        .map(text -> text.strip().replaceFirst("^\\*+", "").strip())
                        .forEach(comments::add);
            } else {
                end = endOfToken(source, at);
                code.append(source, at, end);
            }
            at = end;
        }
        return code.toString();
    }

    /** A text, a character, or any other single sign. */
    private static int endOfToken(String source, int at) {
        String quote = source.startsWith("\"\"\"", at) ? "\"\"\"" : source.substring(at, at + 1);
        if (!quote.startsWith("\"") && !quote.equals("'")) {
            return at + 1;
        }
        int end = at + quote.length();
        while (!source.startsWith(quote, end)) {
            end += source.charAt(end) == '\\' ? 2 : 1;
        }
        return end + quote.length();
    }

    private static <T> int sum(List<? extends T> all, ToIntFunction<T> value) {
        return all.stream().mapToInt(value).sum();
    }

    private static String spread(List<Integer> sorted) {
        return "%.0f / %d / %d".formatted(
                median(sorted), sorted.get((int) Math.ceil(0.9 * sorted.size()) - 1), sorted.get(sorted.size() - 1));
    }

    private static double median(List<Integer> sorted) {
        int size = sorted.size();
        return (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2.0;
    }
}
