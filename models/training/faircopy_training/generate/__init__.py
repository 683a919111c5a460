"""Training text that a language model writes, and a reward for what helps the tagger ("Boosting Punctuation Restoration with Data Generation and Reinforcement Learning").

    language_model   a small causal language model in plain PyTorch, from the blocks of a GGUF file
    prepare          the package's GGUF file to a directory that the others read
    perplexity       the same text by llama.cpp and by PyTorch
    seeds, writing   64 words of the domain in, written text out, and that as labelled spoken words
    reward           how well a sample's gradient agrees with the development set's; what the language model learns from that
    learn            Algorithm 1: both models in turn
    table            the paper's Table 3, row by row, seed by seed
"""
