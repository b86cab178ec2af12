import Glibc

/// Measures the cores and the worlds made of them.
///
/// This file stays free of concurrency: what counts instructions does not survive a program whose `main` is
/// asynchronous.
do throws(Arguments.Mistake) {
    let arguments = try Arguments(CommandLine.arguments.dropFirst())
    let results = arguments.run()
    print(arguments.isJSON ? results.map(\.json).joined(separator: "\n") : Result.table(results))
    exit(results.allSatisfy(\.isGood) ? 0 : 1)
} catch {
    let complaint = "\(error.reason)\n\(Arguments.usage)\n"
    write(STDERR_FILENO, complaint, complaint.utf8.count)
    exit(2)
}
